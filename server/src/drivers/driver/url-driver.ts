// A driver that a URL of the configuration selects by its scheme. Each such port has one file with the list of its drivers, so
// that adding a driver is a folder and a line.

/** `Context` is what the process gives to every driver of the port; `Port` is what the driver creates. */
export type UrlDriver<Context, Port> = {
  /** The driver's name, such as `rtr`. */
  readonly kind: string
  /** With the colon: `rtr:`. */
  readonly schemes: readonly string[]
  /** The form of its URLs, for error messages. */
  readonly forms: readonly string[]
  /** Throws a TypeError with the problem and the fix if the URL is not valid. Reads no file and opens no connection. */
  check(url: string): void
  /** Returns the port, inert until its first use. Throws a TypeError as `check` does, and if a file cannot be read. */
  create(url: string, context: Context): Port
}

/** Makes a UrlDriver of the settings in a URL and of a factory. `parse` throws a TypeError and reads no file. */
export function urlDriver<Settings, Context, Port>(driver: {
  readonly kind: string
  readonly schemes: readonly string[]
  readonly forms: readonly string[]
  readonly parse: (url: string) => Settings
  readonly create: (settings: Settings, context: Context) => Port
}): UrlDriver<Context, Port> {
  const { kind, schemes, forms, parse, create } = driver
  return {
    kind,
    schemes,
    forms,
    check: (url) => void parse(url),
    create: (url, context) => create(parse(url), context),
  }
}

/** Returns the driver of the URL's scheme; throws a TypeError with the forms of all drivers if there is none. */
export function driverFor<Context, Port>(
  drivers: readonly UrlDriver<Context, Port>[],
  url: string,
): UrlDriver<Context, Port> {
  const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0].toLowerCase() ?? ''
  const driver = drivers.find(({ schemes }) => schemes.includes(scheme))
  if (driver) return driver
  throw new TypeError(`write ${drivers.flatMap(({ forms }) => forms).join(' or ')}`)
}
