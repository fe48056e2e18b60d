// A handler for each kind of a message: a kind without a handler does not compile.

export type Handlers<M extends { readonly kind: string }> = {
  readonly [K in M['kind']]: (message: Extract<M, { readonly kind: K }>) => void
}

/** Calls the handler of the message's kind. */
export function dispatch<M extends { readonly kind: string }>(handlers: Handlers<M>, message: M): void {
  const handler = handlers[message.kind as M['kind']] as (message: M) => void
  handler(message)
}
