// The filters of the list of attacks. Each is a filter of the API.
import { eventFlags, eventStatuses } from '@pharos/contract/events/event'
import { classificationKeys, classificationLabel } from '@pharos/contract/events/classification'
import { listIncidentsRoute } from '@pharos/contract/events/incident'
import { useMemo } from 'react'
import { parseNetwork } from '../announcements/parse-network.ts'
import { useAnswer } from '../api/queries.ts'
import { yesNo, type TextFilter, type UnitFilter } from '../ui/list-filter.ts'
import { eventStatusShown } from '../ui/status.tsx'
import type { ListDeclaration } from '../ui/use-list-search.ts'
import { detectorName } from './detector-name.ts'
import { flagLabel } from './flag-labels.ts'
import { parseRate, rateText } from './rate-text.ts'
import { words } from './words.ts'

const { filters: texts } = words.list

const text: TextFilter = {
  kind: 'text',
  name: 'search',
  label: texts.text,
  placeholder: texts.textPlaceholder,
  mistakeIn: (typed) => (typed.length === 1 ? texts.textTooShort : undefined),
}

const network: TextFilter = {
  kind: 'text',
  name: 'affected_network',
  label: texts.network,
  mistakeIn: (typed) =>
    typed !== '' && parseNetwork(typed) === undefined ? texts.networkMistake : undefined,
  normalize: (typed) => parseNetwork(typed) ?? typed,
}

/** Bits or packets per second, by the unit. */
const rate: UnitFilter = {
  kind: 'unit',
  name: 'rate',
  names: ['min_bps', 'min_pps'],
  label: texts.rate,
  placeholder: '500 Mbps',
  hint: texts.rateHint,
  parse(typed) {
    const parsed = parseRate(typed)
    return (
      parsed &&
      Object.fromEntries(
        Object.entries(parsed).flatMap(([name, value]) =>
          value === undefined ? [] : [[name, String(value)]],
        ),
      )
    )
  },
  format: ({ min_bps: bps, min_pps: pps }) =>
    rateText({ min_bps: bps ? Number(bps) : undefined, min_pps: pps ? Number(pps) : undefined }),
}

const statuses = eventStatuses.map((value) => ({ value, ...eventStatusShown(value) }))
const types = classificationKeys.map((value) => ({ value, label: classificationLabel(value) }))
const flags = eventFlags.map((value) => ({ value, label: flagLabel(value) }))
const times = { start: 'start', end: 'end' } as const

/** Returns the filters; the sources are taken from the latest attacks. */
export function useEventFilters(): ListDeclaration {
  const latest = useAnswer(listIncidentsRoute, { query: { ordering: '-start', limit: 100 } }).data
  return useMemo(() => {
    const sources = new Set(latest?.results.flatMap(({ sources: keys }) => keys))
    return {
      sort: '-start',
      search: network,
      time: times,
      filters: [
        { kind: 'choice', name: 'status', label: texts.status, options: statuses },
        { kind: 'choice', name: 'classification_key', label: texts.type, options: types },
        yesNo('ongoing', texts.ongoing, texts.isOngoing, texts.isEnded),
        yesNo('false_positive', texts.falsePositives, texts.onlyFalse, texts.withoutFalse),
        text,
        rate,
        {
          kind: 'choice',
          name: 'source_key',
          label: texts.source,
          isOpen: true,
          options: [...sources].toSorted().map((value) => ({ value, label: detectorName(value) })),
        },
        { kind: 'choice', name: 'flag', label: texts.flags, options: flags },
      ],
    }
  }, [latest])
}
