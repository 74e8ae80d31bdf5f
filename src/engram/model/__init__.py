"""What things are: plain frozen values, no behaviour beyond their own meaning."""
