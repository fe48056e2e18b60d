// Cookies of requests (RFC 6265).

/** Returns the value of a cookie; undefined if the header has none of the name. */
export function findCookie(header: string, name: string): string | undefined {
  const pair = header.split(';').find((one) => one.trim().startsWith(`${name}=`))
  return pair?.trim().slice(name.length + 1)
}
