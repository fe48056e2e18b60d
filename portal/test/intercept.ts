// Answers requests of a page in place of the server, or changes, delays and loses its answers. An interception ends with its scope: when
// it has ended, its handlers have finished. No other file calls `route` of a page or context: see intercept.test.ts.
import type { BrowserContext, Page, Route } from 'playwright-core'
import { waitFor } from '../../lab/src/wait.ts'
import { waitMs } from './browser.ts'

type Address = string | RegExp | ((url: URL) => boolean)

/** Answers one request. `released` resolves at `release()` and at the end of the interception. */
export type Reply = (route: Route, released: Promise<void>) => Promise<void>

export type Interception = {
  /** Number of requests until now. */
  readonly count: number
  /** Resolves once there were so many requests. */
  asked(count: number): Promise<void>
  /** Releases the requests blocked by `held`, and all later ones. */
  release(): void
  /** Resolves when no handler runs any more. Throws the first error of a reply. */
  stop(): Promise<void>
  [Symbol.asyncDispose](): Promise<void>
}

/** Applies to requests from now on, before earlier interceptions of the same address. */
export async function intercept(
  target: Page | BrowserContext,
  address: Address,
  reply: Reply,
): Promise<Interception> {
  const { promise: released, resolve: release } = Promise.withResolvers<void>()
  const running = new Set<Promise<void>>()
  let [count, isEnded] = [0, false]
  let failure: unknown
  const handle = async (route: Route): Promise<void> => {
    count++
    const done = reply(route, released).catch(async (error: unknown) => {
      // That the page has been closed is no error of the reply.
      if (!isEnded && !target.isClosed()) failure ??= error
      await route.abort().catch(() => {})
    })
    running.add(done)
    await done
    running.delete(done)
  }
  await target.route(address, handle)
  const stop = async (): Promise<void> => {
    isEnded = true
    release()
    if (!target.isClosed()) await target.unroute(address, handle).catch(() => {})
    await Promise.all(running)
    if (failure !== undefined) throw failure
  }
  return {
    get count() {
      return count
    },
    async asked(wanted) {
      await waitFor(`${wanted} requests of ${String(address)}`, () => count >= wanted, { timeoutMs: waitMs })
    },
    release,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/** Requests wait until `release()`; they continue to earlier interceptions and the server. */
export const held: Reply = async (route, released) => {
  await released
  await route.fallback()
}

/** The server gets no request, the page a failed connection. */
export const lost: Reply = (route) => route.abort()

/** The server gets the request, the page a failed connection. */
export const lostAnswer: Reply = async (route) => {
  await route.fetch()
  await route.abort()
}

export const answered =
  (json: unknown, status = 200): Reply =>
  (route) =>
    route.fulfill({ status, json })

/** An answer that is no problem document, as of a proxy. */
export const answeredWithText =
  (status: number, text: string): Reply =>
  (route) =>
    route.fulfill({ status, contentType: 'text/plain', body: text })

/** A problem document; `more` adds or replaces fields of it. */
export const refused =
  (status: number, code: string, more: object = {}, headers: Readonly<Record<string, string>> = {}): Reply =>
  (route) =>
    route.fulfill({
      status,
      headers: { ...headers, 'content-type': 'application/problem+json' },
      body: JSON.stringify({
        type: `https://portal.example.net/docs/problems/${code}`,
        title: 'Failed',
        status,
        detail: 'Not now.',
        code,
        request_id: '00000000-0000-4000-8000-000000000000',
        ...more,
      }),
    })

/** Changes the server's answer. `from`: the address to request instead. */
export const changed =
  <Answer>(change: (answer: Answer, url: URL) => unknown, from = (url: string) => url): Reply =>
  async (route) => {
    const url = route.request().url()
    const response = await route.fetch({ url: from(url) })
    await route.fulfill({ response, json: change((await response.json()) as Answer, new URL(url)) })
  }
