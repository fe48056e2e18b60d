// The filters of the list of announcements. Each is a filter of the API.
import {
  announcementConditions,
  announcementStatuses,
  listRegionsRoute,
} from '@pharos/contract/byoip/announcement'
import { listAsnsRoute } from '@pharos/contract/inventory/asn'
import { useMemo } from 'react'
import { useAnswer } from '../api/queries.ts'
import { wordsOf, yesNo, type TextFilter } from '../ui/list-filter.ts'
import { announcementStatusShown } from '../ui/status.tsx'
import type { ListDeclaration } from '../ui/use-list-search.ts'
import { parseNetwork } from './parse-network.ts'
import { words } from './words.ts'

const { filters: texts } = words.list

const network: TextFilter = {
  kind: 'text',
  name: 'cidr',
  label: texts.network,
  hasMany: true,
  mistakeIn: (text) =>
    wordsOf(text).some((word) => parseNetwork(word) === undefined) ? texts.networkMistake : undefined,
  normalize: (text) => wordsOf(text).map(parseNetwork).join(','),
}

const statuses = announcementStatuses.map((value) => ({ value, ...announcementStatusShown(value) }))

const conditionColors = { in_sync: 'ok', out_of_sync: 'warn', off: 'idle', blocked: 'warn' } as const
const conditions = announcementConditions.map((value) => ({
  value,
  label: texts.conditions[value],
  color: conditionColors[value],
}))

/** Returns the filters, with the regions and ASNs that the team can choose from. */
export function useAnnouncementFilters(): ListDeclaration {
  const regions = useAnswer(listRegionsRoute, { query: { limit: 1000 } }).data
  const asns = useAnswer(listAsnsRoute, { query: { limit: 1000 } }).data
  return useMemo(
    () => ({
      sort: 'cidr',
      search: { kind: 'text', name: 'search', label: texts.search, placeholder: texts.search },
      filters: [
        network,
        { kind: 'choice', name: 'condition', label: texts.condition, options: conditions },
        { kind: 'choice', name: 'status', label: texts.status, options: statuses },
        {
          kind: 'choice',
          name: 'region',
          label: texts.region,
          isOpen: true,
          options: regions?.results.map(({ slug, name }) => ({ value: slug, label: name })) ?? [],
        },
        {
          kind: 'choice',
          name: 'origin_asn',
          label: texts.origin,
          isOpen: true,
          options: asns?.results.map(({ asn }) => ({ value: String(asn), label: `AS${asn}` })) ?? [],
        },
        yesNo('enabled', texts.enabled, texts.yes, texts.no),
        {
          kind: 'choice',
          name: 'family',
          label: texts.family,
          isSingle: true,
          options: [
            { value: '4', label: 'IPv4' },
            { value: '6', label: 'IPv6' },
          ],
        },
        {
          kind: 'choice',
          name: 'deleted',
          label: texts.deleted,
          isSingle: true,
          options: [{ value: 'true', label: texts.onlyDeleted }],
        },
      ],
    }),
    [regions, asns],
  )
}
