// Waits until the browser is idle, at most a second.

export const whenIdle = (): Promise<void> =>
  new Promise((resolve) => {
    // Not every browser has it.
    if ('requestIdleCallback' in globalThis) requestIdleCallback(() => resolve(), { timeout: 1_000 })
    else setTimeout(resolve, 200)
  })
