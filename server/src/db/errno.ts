// Reads the code of a system or PostgreSQL error from an unknown thrown value.

/** `ENOENT`, `ECONNREFUSED` or an SQLSTATE such as `23505`; undefined if the value has no code. */
export function errorCode(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code
  return typeof code === 'string' ? code : undefined
}

/** The text of any thrown value. */
export function errorText(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
