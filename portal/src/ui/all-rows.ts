// Reads all rows of a list of the API, page by page. Rows may change meanwhile.
import { ProblemError } from '@pharos/contract/client'

export type PageOf<Row> = { readonly results: readonly Row[]; readonly count: number }
export type Row = Readonly<Record<string, unknown>>

/** Requests one page. */
export type RequestPage = (offset: number, limit: number) => Promise<PageOf<Row>>

const pageRows = 1000
const tooManyRequests = 429

/**
 * Yields the pages in order. A row that moves to a later page meanwhile is yielded once, recognised by its id. If the server
 * answers 429, awaits `wait` (seconds) and requests the page again.
 */
export async function* allRows(
  request: RequestPage,
  wait: (seconds: number) => Promise<void>,
): AsyncGenerator<PageOf<Row>> {
  const seen = new Set<unknown>()
  for (let offset = 0, count = 1; offset < count; offset += pageRows) {
    const page = await requestPatiently(() => request(offset, pageRows), wait)
    count = page.count
    const results = page.results.filter(({ id }) => id === undefined || !seen.has(id))
    for (const { id } of results) seen.add(id)
    yield { results, count }
  }
}

async function requestPatiently<T>(
  request: () => Promise<T>,
  wait: (seconds: number) => Promise<void>,
): Promise<T> {
  for (;;) {
    try {
      return await request()
    } catch (error) {
      if (!(error instanceof ProblemError) || error.problem.status !== tooManyRequests) throw error
      await wait(error.retryAfterSeconds ?? 1)
    }
  }
}
