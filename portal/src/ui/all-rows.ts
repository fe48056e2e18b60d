// Every row of a list of the API, page by page, however many there are and whatever happens to them meanwhile.
import { ProblemError } from '@pharos/contract/client'

export type PageOf<Row> = { readonly results: readonly Row[]; readonly count: number }
export type Row = Readonly<Record<string, unknown>>

/** Asks for one page. Throws what it throws. */
export type AskPage = (offset: number, limit: number) => Promise<PageOf<Row>>

const pageRows = 1000
const askedTooOften = 429

/**
 * The pages one after the other. A row that moves to a later page while they are read comes once: it is known by its id.
 * Where the server asks to be left alone, `wait` (seconds) is awaited and the page asked for again.
 */
export async function* allRows(
  ask: AskPage,
  wait: (seconds: number) => Promise<void>,
): AsyncGenerator<PageOf<Row>> {
  const seen = new Set<unknown>()
  for (let offset = 0, count = 1; offset < count; offset += pageRows) {
    const page = await askPatiently(() => ask(offset, pageRows), wait)
    count = page.count
    const results = page.results.filter(({ id }) => id === undefined || !seen.has(id))
    for (const { id } of results) seen.add(id)
    yield { results, count }
  }
}

async function askPatiently<T>(ask: () => Promise<T>, wait: (seconds: number) => Promise<void>): Promise<T> {
  for (;;) {
    try {
      return await ask()
    } catch (error) {
      if (!(error instanceof ProblemError) || error.problem.status !== askedTooOften) throw error
      await wait(error.retryAfterSeconds ?? 1)
    }
  }
}
