// Converts objects of NetBox to a platform document with locations, devices, services and ports. Pure, and never
// throws: an object that cannot be imported is skipped with a notice.
import { counted } from '@pharos/contract/counted'
import { isShortSlug, type NetboxMapping } from './mapping.ts'
import type { Circuit, CircuitTermination, Device, Interface, Site } from './objects.ts'

/** The objects that were read. `interfaces`: interfaces with a circuit or with the tag. */
export type NetboxObjects = {
  readonly sites: readonly Site[]
  readonly devices: readonly Device[]
  readonly circuits: readonly Circuit[]
  readonly terminations: readonly CircuitTermination[]
  readonly interfaces: readonly Interface[]
  /** The tag of ports, if it does not exist in NetBox. */
  readonly missingTag?: string | undefined
}

/** Existing objects of the database, which the document may refer to. */
export type Existing = {
  readonly teams: ReadonlySet<string>
  readonly locations: ReadonlySet<string>
  /** Circuit ids by place: `device interface`. */
  readonly ports: ReadonlyMap<string, string>
  /** Circuit ids of imported ports by their object: `netbox:interface:17`. */
  readonly portsByRef?: ReadonlyMap<string, string>
}

export type NetboxElement = Readonly<Record<string, unknown>>
export type NetboxDocument = {
  readonly locations: readonly NetboxElement[]
  readonly devices: readonly NetboxElement[]
  readonly services: readonly NetboxElement[]
  readonly ports: readonly NetboxElement[]
}
export type Converted = { readonly document: NetboxDocument; readonly notices: readonly string[] }

/** States of IX-API 2 for the statuses of circuits. */
const circuitStates: Readonly<Record<string, string>> = {
  planned: 'requested',
  provisioning: 'allocated',
  active: 'production',
  offline: 'error',
  deprovisioning: 'decommission_requested',
  decommissioned: 'decommissioned',
}

export function toEntries(objects: NetboxObjects, existing: Existing, mapping: NetboxMapping): Converted {
  const notices: string[] = []
  const notice = (message: string) => void notices.push(message)
  if (objects.missingTag !== undefined)
    notice(`tag ${objects.missingTag}: it does not exist in NetBox: no interface is a port by its tag`)
  const locations = locationsOf(objects, existing, mapping, notice)
  const known = new Set([...existing.locations, ...locations.map(({ key }) => key)])
  const devices = devicesOf(objects.devices, known, notice)
  const services = servicesOf(objects.circuits, existing, mapping, notice)
  const ports = portsOf(objects, devices, services, existing, mapping, notice)
  return {
    document: { locations, devices: [...devices.values()], services: [...services.values()], ports },
    notices,
  }
}

type Notice = (message: string) => void

/**
 * Converts NetBox's kilobits per second to bits per second; undefined for null, 0 and values above the safe integers.
 */
const bitsOf = (kilobits: number | null): number | undefined =>
  kilobits && Number.isSafeInteger(kilobits * 1000) ? kilobits * 1000 : undefined

const withoutUndefined = <T extends object>(element: T): T =>
  Object.fromEntries(Object.entries(element).filter(([, value]) => value !== undefined)) as T

function locationsOf(
  { sites, devices }: NetboxObjects,
  existing: Existing,
  { countryField }: NetboxMapping,
  notice: Notice,
) {
  const used = new Set(devices.map(({ site }) => site.slug))
  return sites.flatMap(({ name, slug, time_zone, custom_fields }) => {
    if (!used.has(slug)) return []
    const country = textOf(custom_fields[countryField])?.toUpperCase() ?? ''
    const skip = (reason: string) => {
      if (!existing.locations.has(slug)) notice(`site ${slug}: not imported: ${reason}`)
      return []
    }
    if (!isShortSlug(slug))
      return skip('the slug is not one of lower-case letters, digits and hyphens, at most 32')
    if (!/^[A-Z]{2}$/.test(country))
      return skip(`the custom field ${countryField} is not a country such as NL`)
    if (!time_zone) notice(`site ${slug}: no time zone; UTC is used`)
    return [{ key: slug, name, country, timezone: time_zone || 'UTC' }]
  })
}

function devicesOf(devices: readonly Device[], locations: ReadonlySet<string>, notice: Notice) {
  const byId = new Map<number, NetboxElement & { readonly name: string }>()
  const names = new Set<string>()
  for (const { id, name, role, device_type: type, serial, site, primary_ip: address, tags } of devices) {
    if (!name) notice(`device ${id}: not imported: it has no name`)
    else if (names.has(name)) notice(`device ${id}: not imported: another device is named ${name}`)
    else {
      names.add(name)
      const element = {
        name,
        role: role.slug,
        vendor: type.manufacturer.name,
        model: type.model,
        serial: serial || undefined,
        location: locations.has(site.slug) ? site.slug : undefined,
        address: address?.address.split('/')[0],
        tags: [...new Set(tags.map(({ slug }) => slug))].toSorted(),
        external_ref: `netbox:device:${id}`,
      }
      byId.set(id, withoutUndefined(element))
    }
  }
  return byId
}

type ServiceElement = NetboxElement & { readonly team: string; readonly name: string }

function servicesOf(
  circuits: readonly Circuit[],
  { teams }: Existing,
  { serviceTypes }: NetboxMapping,
  notice: Notice,
) {
  const byId = new Map<number, ServiceElement>()
  const keys = new Set<string>()
  const unknown = { tenant: new Map<string, number>(), 'circuit type': new Map<string, number>() }
  const count = (what: keyof typeof unknown, slug: string) =>
    unknown[what].set(slug, (unknown[what].get(slug) ?? 0) + 1)
  for (const { id, cid, type, status, tenant, commit_rate, install_date, termination_date } of circuits) {
    // A circuit without a tenant is the provider's own.
    if (!tenant) continue
    const serviceType = serviceTypes.get(type.slug)
    const key = `${tenant.slug} ${cid}`
    if (!teams.has(tenant.slug)) count('tenant', tenant.slug)
    else if (serviceType === undefined) count('circuit type', type.slug)
    else if (keys.has(key)) notice(`circuit ${id}: not imported: ${tenant.slug} has another circuit ${cid}`)
    else {
      keys.add(key)
      const state = circuitStates[status.value]
      if (state === undefined)
        notice(`circuit ${cid}: the status ${status.value} is not known; the state is kept`)
      // NetBox accepts any two dates. Without the service, its ports would lose it.
      const isReversed = install_date !== null && termination_date !== null && termination_date < install_date
      if (isReversed)
        notice(
          `netbox:circuit:${id}: the termination date ${termination_date} is before the install date ${install_date}: ${cid} has no end date`,
        )
      const element = {
        team: tenant.slug,
        name: cid,
        type: serviceType,
        state,
        commit_bps: bitsOf(commit_rate),
        start_date: install_date ?? undefined,
        end_date: isReversed ? undefined : (termination_date ?? undefined),
        external_ref: `netbox:circuit:${id}`,
      }
      byId.set(id, withoutUndefined(element))
    }
  }
  for (const [what, slugs] of Object.entries(unknown))
    for (const [slug, number] of slugs)
      notice(`${what} ${slug}: ${counted(number, 'circuit')} not imported: no ${whatIsMissing(what)}`)
  return byId
}

const whatIsMissing = (what: string): string =>
  what === 'tenant' ? 'team has this slug' : 'service type is set for it (netbox_service_types)'

function portsOf(
  { circuits, terminations, interfaces }: NetboxObjects,
  devices: ReadonlyMap<number, { readonly name: string }>,
  services: ReadonlyMap<number, ServiceElement>,
  existing: Existing,
  { portTag, circuitField, portIdField }: NetboxMapping,
  notice: Notice,
) {
  const cabled = cabledCircuits(terminations, services)
  const idsByCid = new Map(circuits.toReversed().map(({ id, cid }) => [cid, id]))
  const ids = new Set<string>()
  const places = new Set<string>()
  /** Ids that other interfaces keep, under whatever names they have now. */
  const kept = new Map(
    interfaces.flatMap(({ id }) => {
      const held = existing.portsByRef?.get(`netbox:interface:${id}`)
      return held === undefined ? [] : [[held, `netbox:interface:${id}`] as const]
    }),
  )
  return interfaces.flatMap((one) => {
    const device = devices.get(one.device.id)
    const written = circuitOf(one.custom_fields[circuitField], idsByCid)
    const service = services.get(written ?? cabled.get(one.id) ?? 0)
    if (!device || (!service && !one.tags.some(({ slug }) => slug === portTag))) return []
    const place = `${device.name} ${one.name}`
    const external_ref = `netbox:interface:${one.id}`
    const wanted = textOf(one.custom_fields[portIdField])
    const circuit_id = circuitIdOf({ wanted, place, external_ref, kept }, existing, (message) =>
      notice(`interface ${one.id}: ${message}`),
    )
    if (ids.has(circuit_id) || places.has(place)) {
      notice(`interface ${one.id}: not imported: another one is ${circuit_id}`)
      return []
    }
    ids.add(circuit_id)
    places.add(place)
    const element = {
      circuit_id,
      device: device.name,
      interface: one.name,
      media: one.type.label,
      speed_bps: bitsOf(one.speed),
      description: one.description,
      external_ref,
      ...(service ? { team: service.team, service: service.name } : { service: null }),
    }
    return [withoutUndefined(element)]
  })
}

type PortPlace = {
  readonly wanted: string | undefined
  readonly place: string
  readonly external_ref: string
  /** The objects of ids that are kept. */
  readonly kept: ReadonlyMap<string, string>
}

/** The id of an existing port never changes, also if its interface or device gets another name: another id would be another port. */
function circuitIdOf(
  { wanted, place, external_ref: reference, kept }: PortPlace,
  { ports, portsByRef }: Existing,
  notice: Notice,
): string {
  const isFree = (id: string): boolean => (kept.get(id) ?? reference) === reference
  const atPlace = ports.get(place)
  const held = portsByRef?.get(reference) ?? (atPlace !== undefined && isFree(atPlace) ? atPlace : undefined)
  if (held === undefined) {
    const id = wanted ?? place
    return wanted !== undefined || isFree(id) ? id : `${id} (${reference})`
  }
  if (wanted === undefined || wanted === held) return held
  if ([...ports.values()].includes(wanted) && isFree(wanted)) return wanted
  notice(`the circuit id is ${wanted} in NetBox; the port keeps ${held}`)
  return held
}

/**
 * The imported circuit of each interface that is cabled to a termination; the circuit with the lowest id if there are
 * several.
 */
function cabledCircuits(
  terminations: readonly CircuitTermination[],
  services: ReadonlyMap<number, ServiceElement>,
): ReadonlyMap<number, number> {
  const circuits = new Map<number, number>()
  for (const { circuit, link_peers_type: type, link_peers: peers } of terminations) {
    if (type !== 'dcim.interface' || !services.has(circuit.id)) continue
    for (const { id } of peers) circuits.set(id, Math.min(circuit.id, circuits.get(id) ?? circuit.id))
  }
  return circuits
}

/** A custom field of type text has the circuit ID, a field of type object the circuit. */
function circuitOf(value: unknown, idsByCid: ReadonlyMap<string, number>): number | undefined {
  if (typeof value === 'string') return idsByCid.get(value)
  const id = (value as { id?: unknown } | null | undefined)?.id
  return typeof id === 'number' ? id : undefined
}

/** The text of a custom field of type text or selection, which NetBox returns as a value or as `{ value }`. */
function textOf(value: unknown): string | undefined {
  const text = typeof value === 'object' && value !== null ? (value as { value?: unknown }).value : value
  return typeof text === 'string' && text !== '' ? text : undefined
}
