// Drivers that a URL of the configuration selects by its scheme. A driver is a folder, and a line in the list of its port.

/** `Context`: the values that the process passes to every driver of the port. `Port`: the result of the driver. */
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

export type UrlDriverList<Context, Port> = {
  /** Throws a TypeError if the URL is not valid; the message contains no password. */
  check(url: string): void
  /** Returns the port, not connected yet; throws as `check` does, and if a file cannot be read. */
  create(url: string, context: Context): Port
  /** Like `check`, and throws if a URL is listed twice. */
  checkAll(urls: readonly string[]): void
  /** Returns the ports in the order of their URLs; throws as `checkAll` does, and if a file cannot be read. */
  createAll(urls: readonly string[], context: Context): Port[]
}

/** `noun` describes such a URL, as in `RPKI source`. */
export function urlDriverList<Context, Port>(
  noun: string,
  drivers: readonly UrlDriver<Context, Port>[],
): UrlDriverList<Context, Port> {
  const driverFor = (url: string): UrlDriver<Context, Port> => {
    const scheme = /^[a-z][a-z0-9+.-]*:/i.exec(url)?.[0].toLowerCase() ?? ''
    const driver = drivers.find(({ schemes }) => schemes.includes(scheme))
    if (driver) return driver
    throw new TypeError(`write ${drivers.flatMap(({ forms }) => forms).join(' or ')}`)
  }
  const check = (url: string): void => driverFor(url).check(url)
  const create = (url: string, context: Context): Port => driverFor(url).create(url, context)
  const checkAll = (urls: readonly string[]): void => {
    const repeated = urls.find((url, at) => urls.indexOf(url) !== at)
    if (repeated !== undefined) throw new TypeError(`${noun} ${repeated} is listed twice`)
    urls.forEach(check)
  }
  return {
    check,
    create,
    checkAll,
    createAll(urls, context) {
      checkAll(urls)
      return urls.map((url) => create(url, context))
    },
  }
}
