/** Copyright somebody, all of it. */
// Talks to the server.
import { a } from './a'

/**
 * Fetches a page.
 *
 * In its own time.
 * @param url where
 */
export async function fetchPage(
  url: string,
  again = false,
): Promise<Page> {
  function inner() {}
}

export const run = async (x: number) => {}
export interface Page {}
const hidden = 1
