// Exporters: devices that send flows. An unlisted exporter works too: its device is the one with its address.
import { Type } from 'typebox'
import { defineKind } from '../engine/define-kind.ts'
import { column, mapped, referenceById } from '../engine/field.ts'
import type { Field } from '../engine/kind.ts'
import { Name, Optional, Strict } from '../engine/schema.ts'
import { deviceKind } from './device.ts'
import { parseAddressField } from './values.ts'

/** By the number of the interface (ifIndex); the value is the name of the interface on the device. */
type InterfaceNames = Readonly<Record<string, string>>

/** Names and numbers of interfaces towards other exporters. */
type Internal = 'all' | readonly string[]

export const exporterKind = defineKind({
  name: 'exporter',
  plural: 'exporters',
  section: 'exporters',
  element: Strict({
    address: Type.String({ minLength: 2, maxLength: 45, expects: 'an IP address' }),
    device: Optional(Name),
    sampling_rate: Optional(
      Type.Integer({
        minimum: 1,
        maximum: 2_147_483_647,
        expects: 'the number of packets of which one is counted, such as 1000',
      }),
    ),
    interfaces: Optional(
      Type.Record(Type.String({ pattern: '^(0|[1-9][0-9]{0,9})$' }), Name, {
        additionalProperties: false,
        expects: 'names of interfaces by their number, such as { "514": et-0/0/0 }',
      }),
    ),
    internal: Optional(
      Type.Union([Type.Literal('all'), Type.Array(Name, { uniqueItems: true, maxItems: 1000 })], {
        expects: 'all, or names and numbers of interfaces towards other exporters, such as [ae0, "514"]',
      }),
    ),
  }),
  table: { name: 'flow_exporter_settings', id: 'id' },
  identity: ['address'],
  fields: {
    address: column('flow_exporter_settings', 'address'),
    device: {
      ...referenceById('flow_exporter_settings', 'device_id', deviceKind),
      initial: null,
      isShown: true,
    } as unknown as Field<string | null>,
    sampling_rate: column('flow_exporter_settings', 'sampling_rate', { initial: null, isShown: true }),
    interfaces: mapped('flow_exporter_settings', ['interfaces'], {
      read: ({ interfaces }) => interfaces as InterfaceNames,
      write: (interfaces) => ({ interfaces }),
      initial: {},
    }),
    internal: mapped('flow_exporter_settings', ['internal'], {
      read: ({ internal }): Internal => (internal.length === 1 && internal[0] === 'all' ? 'all' : internal),
      write: (internal) => ({ internal: internal === 'all' ? ['all'] : [...internal] }),
      initial: [],
    }),
  },
  wakes: 'flows',
  check(context, elements): void {
    for (const { path, element } of elements) {
      if (element.interfaces && element.device === undefined)
        context.problem([...path, 'interfaces'], 'device is required: the interfaces are those of the device')
      const address = parseAddressField(context, [...path, 'address'], element.address)
      if (address !== undefined) context.add(exporterKind, path, { ...element, address })
    }
  },
})
