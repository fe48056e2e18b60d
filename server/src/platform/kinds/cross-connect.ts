// Cross connects of customers. The file has their places; staff move their states (POST .../move), which the file never changes.
import { Type } from 'typebox'
import { defineKind } from '../engine/define-kind.ts'
import { column, reference, referenceById } from '../engine/field.ts'
import type { Field } from '../engine/kind.ts'
import { Name, Optional, ShortSlug, Strict, TeamSlug, Text } from '../engine/schema.ts'
import { locationKind } from './location.ts'
import { portKind } from './port.ts'
import { nameIn, serviceKind } from './service.ts'
import { teamKind } from './team.ts'

export const crossConnectKind = defineKind({
  name: 'cross connect',
  plural: 'cross connects',
  section: 'cross_connects',
  element: Strict({
    circuit_id: Name,
    name: Optional(Name),
    team: TeamSlug,
    service: Name,
    port: Optional(Name),
    location: Optional(ShortSlug),
    panel: Optional(Name),
    module: Optional(Name),
    position: Optional(Name),
    z_name: Optional(Text),
    z_circuit_id: Optional(Text),
    z_panel: Optional(Text),
    z_module: Optional(Text),
    z_position: Optional(Text),
    media: Optional(Name),
    connector: Optional(Name),
    chargeable: Optional(Type.Boolean({ expects: 'true or false' })),
  }),
  table: { name: 'cross_connects', id: 'id' },
  identity: ['circuit_id'],
  fields: {
    circuit_id: column('cross_connects', 'circuit_id'),
    name: column('cross_connects', 'name'),
    team: referenceById('cross_connects', 'team_id', teamKind),
    service: referenceById('cross_connects', 'service_id', serviceKind),
    port: { ...referenceById('cross_connects', 'port_id', portKind), initial: null } as unknown as Field<
      string | null
    >,
    location: reference('cross_connects', 'location_key', locationKind, { initial: null }),
    panel: column('cross_connects', 'panel', { initial: '' }),
    module: column('cross_connects', 'module', { initial: '' }),
    position: column('cross_connects', 'position', { initial: '' }),
    z_name: column('cross_connects', 'z_name', { initial: '' }),
    z_circuit_id: column('cross_connects', 'z_circuit_id', { initial: '' }),
    z_panel: column('cross_connects', 'z_panel', { initial: '' }),
    z_module: column('cross_connects', 'z_module', { initial: '' }),
    z_position: column('cross_connects', 'z_position', { initial: '' }),
    media: column('cross_connects', 'media', { initial: '' }),
    connector: column('cross_connects', 'connector', { initial: '' }),
    chargeable: column('cross_connects', 'chargeable', { initial: false }),
  },
  initialOf: ({ circuit_id: circuit = '' }) => ({ name: circuit }),
  elementOf: ({ service: key, ...rest }) => ({ ...rest, service: nameIn(key) }),
  check(context, elements): void {
    for (const { path, element } of elements)
      context.add(crossConnectKind, path, { ...element, service: `${element.team} ${element.service}` })
  },
})
