// The address of a file below the portal's own origin, whatever address the API has of itself.

/** Undefined for a file that was deleted after its time. */
export function fileHref(url: string | null): string | undefined {
  if (url === null) return undefined
  const { pathname, search } = new URL(url)
  return pathname + search
}
