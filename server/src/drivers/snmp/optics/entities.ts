// The interface of an entity of ENTITY-MIB, and the facts of its module. The mapping of the device comes first, then
// names. An entity that could belong to several interfaces belongs to none.
import type { InterfaceKey } from '../../../inventory/collect/device-source.ts'
import { type DecodedModule, type OpticTables, type PortReference } from './family.ts'
import { ethernetTypeIn, opticModuleOf } from './assemble.ts'
import { entAlias, opticEntPhysical } from './entity-oids.ts'
import { indexesIn, integerAt, textAt } from './values.ts'

export type InterfaceKeys = ReadonlyMap<number, InterfaceKey>

export const entityColumns: readonly string[] = [...Object.values(opticEntPhysical), entAlias]

/** An entity is contained in this many others between it and its port. */
const depthMax = 4
const pluggable = /sfp|xfp|cfp|gbic|xenpak|xcvr|transceiver|optic|base-/i

export type EntityMap = {
  readonly tables: OpticTables
  readonly names: ReadonlySet<InterfaceKey>
  /** Interfaces by the part of their names from the first digit on. */
  readonly byNumbers: ReadonlyMap<string, readonly InterfaceKey[]>
  /** The interfaces of an entity and of all that it contains. */
  readonly contained: ReadonlyMap<string, ReadonlySet<InterfaceKey>>
  readonly own: ReadonlyMap<string, InterfaceKey>
}

/** Returns the entities with their interfaces, by entAliasMappingTable or, where it lacks them, by the name of a port. */
export function mapEntities(tables: OpticTables, keys: InterfaceKeys): EntityMap {
  const names = new Set(keys.values())
  const own = new Map<string, InterfaceKey>()
  for (const [index, value] of tables.get(entAlias) ?? []) {
    const match = /^1\.3\.6\.1\.2\.1\.2\.2\.1\.1\.(\d+)$/.exec(String(value))
    const key = keys.get(Number(match?.[1]))
    const [entity] = index.split('.') as [string]
    if (key !== undefined && !own.has(entity)) own.set(entity, key)
  }
  for (const entity of indexesIn(tables, [opticEntPhysical.name])) {
    const name = textAt(tables, opticEntPhysical.name, entity)
    if (name !== null && names.has(name) && !own.has(entity)) own.set(entity, name)
  }
  const byNumbers = Map.groupBy(names, (key) => partsOf(key)[1])
  return { tables, names, byNumbers, own, contained: containedIn(tables, own) }
}

function containedIn(
  tables: OpticTables,
  own: ReadonlyMap<string, InterfaceKey>,
): Map<string, Set<InterfaceKey>> {
  const contained = new Map<string, Set<InterfaceKey>>()
  for (const [entity, key] of own)
    for (const one of [entity, ...ancestorsOf(tables, entity)])
      contained.set(one, (contained.get(one) ?? new Set()).add(key))
  return contained
}

function ancestorsOf(tables: OpticTables, entity: string): string[] {
  const found: string[] = []
  let parent = integerAt(tables, opticEntPhysical.containedIn, entity)
  while (parent !== null && parent > 0 && found.length < depthMax) {
    found.push(String(parent))
    parent = integerAt(tables, opticEntPhysical.containedIn, String(parent))
  }
  return found
}

/** Returns the interface of a port reference; undefined if it is not known for certain. */
export function findInterface(
  map: EntityMap,
  keys: InterfaceKeys,
  port: PortReference,
): InterfaceKey | undefined {
  if (port.kind === 'interface') return keys.get(port.index)
  if (port.kind === 'name') return map.names.has(port.name) ? port.name : undefined
  if (port.kind === 'panel') return findByPanel(map, port)
  return findByEntity(map, String(port.index))
}

function findByPanel(
  { byNumbers }: EntityMap,
  { number, lane }: { readonly number: number; readonly lane: number },
): InterfaceKey | undefined {
  const named = (numbers: string) =>
    only((byNumbers.get(numbers) ?? []).filter((key) => /^[a-z]{2}\d/.test(key)))
  return named(String(number)) ?? named(`${number}/${lane}`)
}

/** The value that all of them are. */
function only<T>(values: readonly T[]): T | undefined {
  return new Set(values).size === 1 ? values[0] : undefined
}

/** Finds the first entity with an interface, from the entity itself outwards. */
function findByEntity(map: EntityMap, entity: string): InterfaceKey | undefined {
  for (const one of [entity, ...ancestorsOf(map.tables, entity)]) {
    const found = map.own.get(one) ?? findByLabel(map, one)
    if (found !== undefined) return found
    const inside = map.contained.get(one)
    if (inside) return only([...inside])
  }
  return undefined
}

/**
 * Finds the interface that the name or description of an entity contains: `Ethernet1/1 Lane 1 Transceiver`, `power Rx 0/0/0/3` of
 * TenGigE0/0/0/3, or `Xcvr for Ethernet49` of Ethernet49/1.
 */
function findByLabel({ tables, byNumbers }: EntityMap, entity: string): InterfaceKey | undefined {
  for (const column of [opticEntPhysical.name, opticEntPhysical.descr]) {
    const text = textAt(tables, column, entity) ?? ''
    const names = [...text.matchAll(/[A-Za-z][A-Za-z-]*\d+(?:[/.:]\d+)*/g)].map(([name]) => name)
    const paths = [...text.matchAll(/(?<![\w/.])\d+(?:\/\d+){2,}(?![\w/.])/g)].map(([path]) => path)
    const named = (suffix: string) =>
      names.flatMap((name) => {
        const [letters, numbers] = partsOf(name)
        return (byNumbers.get(`${numbers}${suffix}`) ?? []).filter((key) =>
          isSameType(partsOf(key)[0], letters),
        )
      })
    const found =
      only(named('')) ??
      only(named('/1')) ??
      only(paths.flatMap((path) => (byNumbers.get(path) ?? []).filter(isEthernet)))
    if (found !== undefined) return found
  }
  return undefined
}

/** Other interfaces of IOS-XR have the same numbers: `Optics0/0/0/3`. */
const isEthernet = (key: InterfaceKey): boolean => /^(?!control|mgmt).*(?:ethernet|gige|gig)/i.test(key)

/** Whether one is an abbreviation of the other: `te` of Te1/1/1 and `tengigabitethernet`. */
const isSameType = (a: string, b: string): boolean =>
  a.length > 1 && b.length > 1 && (a.startsWith(b) || b.startsWith(a))

function partsOf(name: string): [letters: string, numbers: string] {
  const at = name.search(/\d/)
  return at < 0 ? [name.toLowerCase(), ''] : [name.slice(0, at).toLowerCase(), name.slice(at)]
}

/** Returns the pluggable modules of ENTITY-MIB: entities with a serial or part number that belong to one interface. */
export function listEntityModules(map: EntityMap): DecodedModule[] {
  return indexesIn(map.tables, [opticEntPhysical.serial, opticEntPhysical.model]).flatMap((entity) => {
    const text = (column: string) => textAt(map.tables, column, entity)
    const [serial, part, descr] = [
      text(opticEntPhysical.serial),
      text(opticEntPhysical.model),
      text(opticEntPhysical.descr),
    ]
    const isModule = pluggable.test(`${part} ${descr} ${text(opticEntPhysical.name)}`)
    if (!isModule || (serial === null && part === null)) return []
    const port = { kind: 'entity', index: Number(entity) } as const
    const facts = { vendor: text(opticEntPhysical.vendor), part, serial, type: ethernetTypeIn(descr, part) }
    return [opticModuleOf(port, { ...facts, lanes: 1, hasDdm: false })]
  })
}
