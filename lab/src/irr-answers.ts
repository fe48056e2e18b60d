// The `!` protocol on the server side (IRRd documentation, "Whois queries"): a line in, the bytes of an answer out.
// It knows no sockets and no files.
import { parseAsn } from '../../server/src/net/asn.ts'
import { parsePrefix } from '../../server/src/net/prefix.ts'
import { routeObjectOf } from '../../server/src/registry/objects/rpsl-objects.ts'
import type { RpslObject } from '../../server/src/registry/objects/rpsl.ts'
import { asnsOf, isRoute, membersOf, routesOf, searchRoutes, type Registry } from './irr-registry.ts'

/** The settings of one connection. */
export type IrrSession = {
  /** Undefined selects all sources. */
  sources: readonly string[] | undefined
  /** `!!` keeps the connection open; without it, it ends after one answer. */
  keepsOpen: boolean
  isEnding: boolean
}

export function createIrrSession(): IrrSession {
  return { sources: undefined, keepsOpen: false, isEnding: false }
}

/** Returns undefined if the command has no answer. Changes the session. */
export function answerIrrQuery(registry: Registry, session: IrrSession, line: string): string | undefined {
  if (line === '!!') {
    session.keepsOpen = true
    return undefined
  }
  if (line === '') return undefined
  session.isEnding = !session.keepsOpen || line === '!q'
  if (line === '!q') return undefined
  if (!line.startsWith('!')) return '% This server speaks the ! protocol only.\n\n\n'
  try {
    return answerCommand(registry, session, line.charAt(1), line.slice(2))
  } catch (error) {
    return `F ${(error as Error).message}\n`
  }
}

const none = 'C\n'
const absent = 'D\n'

type Command = (registry: Registry, session: IrrSession, parameter: string) => string

const commands: Record<string, Command> = {
  n: () => none,
  t: (_, __, seconds) => (/^([1-9]\d{0,2}|1000)$/.test(seconds) ? none : fail('Invalid value for timeout')),
  v: () => found('IRRd -- version 4 (the lab of Pharos)'),
  s: selectSources,
  j: (registry, _, names) => found(serials(registry, names).join('\n')),
  r: (registry, session, parameter) => {
    const [prefix = '', option = ''] = parameter.split(',')
    const routes = searchRoutes(visible(registry, session), parsePrefix(prefix), option)
    if (option === 'o') return list([...new Set(routes.map((route) => `AS${routeObjectOf(route).origin}`))])
    return texts(routes)
  },
  m: (registry, session, parameter) => {
    const [objectClass, key] = parameter.split(/,(.*)/s)
    return texts(
      visible(registry, session)
        .filter(isKey(objectClass!, key ?? ''))
        .slice(0, 1),
    )
  },
  i: (registry, session, parameter) => {
    const objects = visible(registry, session)
    const name = parameter.replace(/,1$/, '').toUpperCase()
    return list(parameter.endsWith(',1') ? asnsOf(objects, name) : membersOf(objects, name))
  },
  g: (registry, session, asn) => list(prefixesOf(visible(registry, session), [asn], '4')),
  6: (registry, session, asn) => list(prefixesOf(visible(registry, session), [asn], '6')),
  a: (registry, session, parameter) => {
    const [, family, name] = /^([46]?)(.*)$/.exec(parameter)!
    if (name === '') fail('Missing required set name for A query')
    const objects = visible(registry, session)
    return list(prefixesOf(objects, asnsOf(objects, name!.toUpperCase()), family!))
  },
}

function answerCommand(registry: Registry, session: IrrSession, name: string, parameter: string): string {
  const command = Object.hasOwn(commands, name) ? commands[name]! : fail(`Unrecognised command: ${name}`)
  if (parameter === '' && 'tg6ijmnrs'.includes(name)) fail(`Missing parameter for ${name} query`)
  return command(registry, session, parameter)
}

function selectSources(registry: Registry, session: IrrSession, parameter: string): string {
  if (parameter === '-lc') return found((session.sources ?? registry.sources).join(','))
  const names = parameter.toUpperCase().split(',')
  if (!names.every((name) => registry.sources.includes(name))) {
    fail('One or more selected sources are unavailable.')
  }
  session.sources = names
  return none
}

/** All sources are in one file and share one serial. */
function serials(registry: Registry, names: string): string[] {
  const wanted = names === '-*' ? registry.sources : names.toUpperCase().split(',')
  return wanted.map((name) =>
    registry.sources.includes(name) ? `${name}:Y:0-${registry.serial}` : `${name}:X:Database unknown`,
  )
}

function visible(registry: Registry, session: IrrSession): RpslObject[] {
  return registry.of(session.sources ?? registry.sources)
}

/** A route's key is its prefix and origin, with or without a blank or a dash between. */
function isKey(objectClass: string, key: string): (object: RpslObject) => boolean {
  const wanted = key.replaceAll(/[ -]/g, '')
  return (object) => {
    if (object.class !== objectClass.toLowerCase()) return false
    if (!isRoute(object)) return object.key.toUpperCase() === key
    const { prefix, origin } = routeObjectOf(object)
    return `${prefix}AS${origin}` === wanted
  }
}

function prefixesOf(objects: readonly RpslObject[], asns: readonly string[], family: string): string[] {
  const origins = new Set(asns.map(parseAsn))
  const routes = routesOf(
    objects,
    (prefix, origin) => origins.has(origin) && (family === '' || prefix.includes(':') === (family === '6')),
  )
  return [...new Set(routes.map((route) => routeObjectOf(route).prefix))]
}

function list(items: readonly string[]): string {
  return items.length === 0 ? absent : found(items.join(' '))
}

function texts(objects: readonly RpslObject[]): string {
  return objects.length === 0 ? absent : found(objects.map(({ text }) => text.trimEnd()).join('\n\n'))
}

/** The length counts the line feed that ends the text. */
function found(text: string): string {
  return `A${Buffer.byteLength(text) + 1}\n${text}\nC\n`
}

function fail(message: string): never {
  throw new Error(message)
}
