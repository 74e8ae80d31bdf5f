package a;

import java.util.List;

/** Counts words. */
public final class Counter {
    /** Adds one. */
    @Override
    public int add(String word) {
    }
    private void no() {}
}
