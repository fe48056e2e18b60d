// The URL of a VRP source as a URL object, with the same error for all drivers.

/** Throws a TypeError if the text is not a URL. */
export function parseVrpUrl(text: string): URL {
  if (URL.canParse(text)) return new URL(text)
  throw new TypeError('an RPKI source is a URL such as rtr://cache.example.net:3323')
}
