// Finds the socket calls of node:ffi where a test over loopback proves that they work; else sockets of node:dgram are used.

export type SocketCalls = typeof import('./socket-calls.ts')

/** node:ffi is experimental: it may be absent, disabled by a flag, or refuse a signature. */
export async function findSocketCalls(): Promise<SocketCalls | undefined> {
  try {
    const found = await import('./socket-calls.ts')
    return found.worksHere() ? found : undefined
  } catch {
    return undefined
  }
}
