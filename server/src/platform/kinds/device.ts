// Devices: routers and switches of the provider, and how they are read.
import { sql } from 'kysely'
import { Type } from 'typebox'
import { deviceDrivers } from '../../drivers/device-sources.ts'
import { defineKind } from '../engine/define-kind.ts'
import { column, mapped, reference, referenceById } from '../engine/field.ts'
import type { Field } from '../engine/kind.ts'
import { Name, Optional, SettingsOf, ShortSlug, Strict, TeamSlug, Text } from '../engine/schema.ts'
import { updateRow } from '../engine/table.store.ts'
import { deviceCredentialKind } from './device-credential.ts'
import { locationKind } from './location.ts'
import { teamKind } from './team.ts'
import { parseAddressField } from './values.ts'

/** The database has no list of drivers, so this list is checked. `none`: it is not read. */
const drivers = ['none', ...deviceDrivers.kinds]

const Tags = Type.Array(Name, { uniqueItems: true, maxItems: 50, expects: "a list of tags such as ['core']" })

export const deviceKind = defineKind({
  name: 'device',
  plural: 'devices',
  section: 'devices',
  element: Strict({
    name: Name,
    role: Optional(Name),
    vendor: Optional(Name),
    model: Optional(Name),
    serial: Optional(Name),
    location: Optional(ShortSlug),
    address: Optional(Type.String({ minLength: 2, maxLength: 45, expects: 'an IP address' })),
    driver: Optional(Type.Enum(drivers, { expects: `one of ${drivers.join(', ')}` })),
    credential: Optional(Name),
    settings: Optional(SettingsOf(deviceDrivers.schemas, 'driver')),
    team: Optional(TeamSlug),
    tags: Optional(Tags),
    external_ref: Optional(Text),
  }),
  table: { name: 'devices', id: 'id' },
  identity: ['name'],
  fields: {
    name: column('devices', 'name'),
    role: column('devices', 'role', { initial: '', isShown: true }),
    vendor: column('devices', 'vendor', { initial: '' }),
    model: column('devices', 'model', { initial: '' }),
    serial: column('devices', 'serial', { initial: '' }),
    location: reference('devices', 'location_key', locationKind, { initial: null }),
    address: column('devices', 'management_address', { initial: null, isShown: true }),
    driver: column('devices', 'driver', { initial: 'none', isShown: true }),
    credential: {
      ...referenceById('devices', 'credential_id', deviceCredentialKind),
      initial: null,
    } as unknown as Field<string | null>,
    settings: mapped('devices', ['settings'], {
      read: ({ settings }) => settings as Readonly<Record<string, unknown>>,
      write: (settings) => ({ settings }),
      initial: {},
    }),
    team: { ...referenceById('devices', 'customer_id', teamKind), initial: null } as unknown as Field<
      string | null
    >,
    tags: column('devices', 'tags', { initial: [] }),
    external_ref: column('devices', 'external_ref', { initial: '' }),
    managed_by: column('devices', 'managed_by', { initial: 'platform', isShared: true }),
  },
  imported: {
    cleared: ['role', 'vendor', 'model', 'serial', 'location', 'tags', 'external_ref'],
    kept: ['address'],
  },
  wakes: 'devices',
  /** Devices may exchange their names in a source that has ids for them. */
  async prepare(trx, changes): Promise<void> {
    const renamed = changes.flatMap((change) =>
      change.kind === 'device' && change.action === 'update' && change.fields['name'] !== undefined
        ? [Number(change.row.id)]
        : [],
    )
    if (renamed.length > 0)
      await sql`update devices set name = chr(1) || id where id = any(${renamed})`.execute(trx)
  },
  /** Its interfaces are listed again. */
  async update(trx, change, now): Promise<void> {
    await updateRow(trx, deviceKind, change, now)
    if (change.fields.driver !== undefined)
      // Another driver reads other counters: an interface of another type begins again.
      await sql`
        update interface_counters set type = -1
        where interface_id in (select id from interfaces where device_id = ${change.row.id})`.execute(trx)
    await sql`update device_states set next_survey = now() where device_id = ${change.row.id}`.execute(trx)
  },
  check(context, elements): void {
    for (const { path, element } of elements) {
      const driver = deviceDrivers.find(element.driver)
      for (const problem of driver?.check(element.settings ?? {}) ?? [])
        context.problem([...path, 'settings', ...problem.path], problem.message)
      for (const name of driver?.needs ?? [])
        if (!element[name] && !context.rows(deviceKind).get(element.name)?.fields[name])
          context.problem(path, `driver ${driver!.kind} needs ${name}`)
      const address = parseAddressField(context, [...path, 'address'], element.address)
      context.add(deviceKind, path, { ...element, address })
    }
  },
})
