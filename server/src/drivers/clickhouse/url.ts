// The address of a ClickHouse server: http://user:password@host:8123/database. Pure.

export type ClickHouseAddress = {
  /** Without credentials and path. */
  readonly url: string
  readonly username: string
  readonly password: string
  readonly database: string
}

const databaseDefault = 'pharos'

/** Parses `clickhouse_url`. Throws an Error with the reason. */
export function parseClickHouseUrl(text: string): ClickHouseAddress {
  const url = URL.parse(text)
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:') || url.hostname === '')
    throw new Error('is not a URL like http://user:password@host:8123/database')
  if (url.search !== '' || url.hash !== '')
    throw new Error('has parameters; only the database may follow the host')
  const database = decodeURIComponent(url.pathname.slice(1)) || databaseDefault
  if (!/^[A-Za-z_][A-Za-z0-9_]{0,63}$/.test(database))
    throw new Error('names a database with other characters than letters, digits and _')
  return {
    url: url.origin,
    username: decodeURIComponent(url.username) || 'default',
    password: decodeURIComponent(url.password),
    database,
  }
}
