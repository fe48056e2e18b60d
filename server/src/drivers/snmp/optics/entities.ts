// Which interface an entity of ENTITY-MIB belongs to, and what its module is. The mapping of the device comes first, then names. An entity
// that could belong to several interfaces belongs to none.
import type { InterfaceKey } from '../../../inventory/collect/device-source.ts'
import { type DecodedModule, type OpticTables, type PortReference } from './family.ts'
import { ethernetTypeIn, moduleOf } from './assemble.ts'
import { entAlias, entPhysical } from './entity-oids.ts'
import { indexesIn, integerAt, textAt } from './values.ts'

export type InterfaceKeys = ReadonlyMap<number, InterfaceKey>

export const entityColumns: readonly string[] = [...Object.values(entPhysical), entAlias]

/** An entity is contained in this many others between it and its port. */
const depthMax = 4
const pluggable = /sfp|xfp|cfp|gbic|xenpak|xcvr|transceiver|optic|base-/i

export type EntityMap = {
  readonly tables: OpticTables
  readonly interfaces: readonly InterfaceKey[]
  /** The interfaces of an entity and of all that it contains. */
  readonly contained: ReadonlyMap<string, ReadonlySet<InterfaceKey>>
  readonly own: ReadonlyMap<string, InterfaceKey>
}

/** Returns the entities with their interfaces, by entAliasMappingTable or, where it lacks them, by the name of a port. */
export function mapEntities(tables: OpticTables, keys: InterfaceKeys): EntityMap {
  const interfaces = [...keys.values()]
  const own = new Map<string, InterfaceKey>()
  for (const [index, value] of tables.get(entAlias) ?? []) {
    const match = /^1\.3\.6\.1\.2\.1\.2\.2\.1\.1\.(\d+)$/.exec(String(value))
    const key = keys.get(Number(match?.[1]))
    const [entity] = index.split('.') as [string]
    if (key !== undefined && !own.has(entity)) own.set(entity, key)
  }
  const names = new Set(interfaces)
  for (const entity of indexesIn(tables, [entPhysical.name])) {
    const name = textAt(tables, entPhysical.name, entity)
    if (name !== null && names.has(name) && !own.has(entity)) own.set(entity, name)
  }
  return { tables, interfaces, own, contained: containedIn(tables, own) }
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
  let parent = integerAt(tables, entPhysical.containedIn, entity)
  while (parent !== null && parent > 0 && found.length < depthMax) {
    found.push(String(parent))
    parent = integerAt(tables, entPhysical.containedIn, String(parent))
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
  if (port.kind === 'name') return map.interfaces.includes(port.name) ? port.name : undefined
  if (port.kind === 'panel') return findByPanel(map.interfaces, port)
  return findByEntity(map, String(port.index))
}

function findByPanel(
  interfaces: readonly InterfaceKey[],
  { number, lane }: { readonly number: number; readonly lane: number },
): InterfaceKey | undefined {
  const named = (suffix: string) =>
    only(interfaces.filter((key) => /^[a-z]{2}/.test(key) && key.slice(2) === suffix))
  return named(String(number)) ?? named(`${number}/${lane}`)
}

const only = <T>(values: readonly T[]): T | undefined => (values.length === 1 ? values[0] : undefined)

function findByEntity(map: EntityMap, entity: string): InterfaceKey | undefined {
  const own = map.own.get(entity) ?? findByLabel(map, entity)
  if (own !== undefined) return own
  for (const one of [entity, ...ancestorsOf(map.tables, entity)]) {
    const inside = map.contained.get(one)
    if (inside) return only([...inside])
  }
  return undefined
}

/** Finds the interface that the name or description of an entity contains, such as `Ethernet1/1 Lane 1 Transceiver`. */
function findByLabel({ tables, interfaces }: EntityMap, entity: string): InterfaceKey | undefined {
  const texts = [textAt(tables, entPhysical.name, entity), textAt(tables, entPhysical.descr, entity)]
  for (const text of texts) {
    const names = (text ?? '').match(/[A-Za-z][A-Za-z-]*\d+(?:[/.:]\d+)*/g) ?? []
    const found = names.flatMap((name) => interfaces.filter((key) => isSameName(key, name)))
    const key = only([...new Set(found)])
    if (key !== undefined) return key
  }
  return undefined
}

/** Whether one is an abbreviation of the other: `Te1/1/1` and `TenGigabitEthernet1/1/1`. */
function isSameName(key: string, name: string): boolean {
  const [[a, numbersA], [b, numbersB]] = [partsOf(key), partsOf(name)]
  if (numbersA !== numbersB || a.length < 2 || b.length < 2) return false
  return a.startsWith(b) || b.startsWith(a)
}

function partsOf(name: string): [letters: string, numbers: string] {
  const at = name.search(/\d/)
  return at < 0 ? [name.toLowerCase(), ''] : [name.slice(0, at).toLowerCase(), name.slice(at)]
}

/** Returns the pluggable modules of ENTITY-MIB: entities with a serial or part number that belong to one interface. */
export function listEntityModules(map: EntityMap): DecodedModule[] {
  return indexesIn(map.tables, [entPhysical.serial, entPhysical.model]).flatMap((entity) => {
    const text = (column: string) => textAt(map.tables, column, entity)
    const [serial, part, descr] = [text(entPhysical.serial), text(entPhysical.model), text(entPhysical.descr)]
    const isModule = pluggable.test(`${part} ${descr} ${text(entPhysical.name)}`)
    if (!isModule || (serial === null && part === null)) return []
    const port = { kind: 'entity', index: Number(entity) } as const
    const facts = { vendor: text(entPhysical.vendor), part, serial, type: ethernetTypeIn(descr, part) }
    return [moduleOf(port, { ...facts, lanes: 1, hasDdm: false })]
  })
}
