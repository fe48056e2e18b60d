// When the browser has nothing better to do, or after a second.

export const whenIdle = (): Promise<void> =>
  new Promise((resolve) => {
    // Not every browser says when.
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => resolve(), { timeout: 1_000 })
    else setTimeout(resolve, 200)
  })
