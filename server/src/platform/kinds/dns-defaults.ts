// Defaults of zones and quotas of DNS: one element, whose section is a map instead of a list.
import { settingLimits } from '@pharos/contract/dns/settings'
import { Type } from 'typebox'
import { defineKind } from '../engine/define-kind.ts'
import { column } from '../engine/field.ts'
import { Flag, Optional, Strict } from '../engine/schema.ts'
import { HostName, readHostName } from './tsig-key.ts'

const key = 'dns'

const Seconds = (name: keyof typeof settingLimits) => {
  const { minimum, maximum } = settingLimits[name]
  return Optional(Type.Integer({ minimum, maximum, expects: `seconds, ${minimum} to ${maximum}` }))
}
const Count = (maximum: number, minimum = 1) =>
  Optional(Type.Integer({ minimum, maximum, expects: `a number, ${minimum} to ${maximum}` }))

export const dnsDefaultsKind = defineKind({
  name: 'dns',
  plural: 'dns',
  section: 'dns',
  isSingle: true,
  element: Strict({
    hostmaster: Optional(HostName),
    default_ttl: Seconds('ttl'),
    minimum_ttl: Seconds('ttl'),
    refresh: Seconds('refresh'),
    retry: Seconds('retry'),
    expire: Seconds('expire'),
    negative_ttl: Seconds('negative_ttl'),
    history_days: Count(3650),
    zones_per_team: Count(1_000_000),
    recordsets_per_zone: Count(10_000_000),
    aliases_per_zone: Count(10_000, 0),
    apex_ns_editable: Optional(Flag),
  }),
  table: { name: 'dns_defaults', id: 'key' },
  identity: ['key'],
  keyOf: () => key,
  fields: {
    key: column('dns_defaults', 'key'),
    hostmaster: column('dns_defaults', 'hostmaster', { initial: 'hostmaster.invalid.' }),
    default_ttl: column('dns_defaults', 'default_ttl', { initial: 3600 }),
    minimum_ttl: column('dns_defaults', 'minimum_ttl', { initial: 300 }),
    refresh: column('dns_defaults', 'refresh', { initial: 3600 }),
    retry: column('dns_defaults', 'retry', { initial: 900 }),
    expire: column('dns_defaults', 'expire', { initial: 1_209_600 }),
    negative_ttl: column('dns_defaults', 'negative_ttl', { initial: 300 }),
    history_days: column('dns_defaults', 'history_days', { initial: 90 }),
    zones_per_team: column('dns_defaults', 'zones_max', { initial: 1000 }),
    recordsets_per_zone: column('dns_defaults', 'recordsets_max', { initial: 50_000 }),
    aliases_per_zone: column('dns_defaults', 'aliases_max', { initial: 50 }),
    apex_ns_editable: column('dns_defaults', 'is_apex_ns_editable', { initial: false }),
  },
  check(context, elements): void {
    for (const { path, element } of elements) {
      const {
        hostmaster,
        refresh = 3600,
        retry = 900,
        default_ttl: ttl = 3600,
        minimum_ttl: least = 300,
      } = element
      const mailbox =
        hostmaster === undefined ? undefined : readHostName(context, [...path, 'hostmaster'], hostmaster)
      if (retry >= refresh) context.problem([...path, 'retry'], 'must be less than refresh')
      if (least > ttl) context.problem([...path, 'minimum_ttl'], 'must be at most default_ttl')
      context.add(dnsDefaultsKind, path, { ...element, key, hostmaster: mailbox })
    }
  },
})
