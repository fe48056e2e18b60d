// A suite in a browser with the example server: both start before its tests, and end after them.
import { after, before } from 'node:test'
import type { Browser, BrowserContextOptions } from 'playwright-core'
import { openBrowser, openExample, type Person } from './browser.ts'
import { startExampleServer, type ExampleServer } from './example-server.ts'

export type ExampleSuite = {
  readonly server: ExampleServer
  /** Opens a separate browser context with a session. */
  open(options?: BrowserContextOptions): Promise<Person>
}

/** Call it once in a suite. */
export function useExample(): ExampleSuite {
  let browser: Browser | undefined
  let server: ExampleServer | undefined
  before(async () => {
    server = await startExampleServer()
    browser = await openBrowser()
  })
  after(async () => {
    await browser?.close()
    await server?.[Symbol.asyncDispose]()
  })
  return {
    get server() {
      return server!
    },
    open: (options) => openExample(browser!, server!.url, options),
  }
}
