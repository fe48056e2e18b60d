// The title and the filter of a panel of the overview.
import { ActionIcon } from '@mantine/core'
import { listRegionsRoute } from '@pharos/contract/byoip/announcement'
import { listPortsRoute } from '@pharos/contract/inventory/port'
import { listViewsRoute, type ViewPanel } from '@pharos/contract/team/view'
import { IconAdjustments } from '@tabler/icons-react'
import { useQuery } from '@tanstack/react-query'
import { answerOf } from '../api/queries.ts'
import { Dialog } from '../ui/dialog.tsx'
import { text } from '../ui/form-text-widgets.tsx'
import { select, type Option } from '../ui/form-widgets.tsx'
import { titleMax } from '../ui/overview-panels.ts'
import { kindOf, panelName } from './panel-content.tsx'
import { words } from './words.ts'

const { edit: texts } = words

type Values = { readonly title: string; readonly filter: string }

/** Figures have no title of their own. */
export const hasSettings = (panel: ViewPanel): boolean => {
  const kind = kindOf(panel)
  return kind !== undefined && kind !== 'services'
}

type Props = { readonly panel: ViewPanel; readonly onApply: (to: Partial<ViewPanel>) => void }

export function PanelSettings({ panel, onApply }: Props) {
  const filter = useFilterOf(panel)
  const name = panelName(panel)
  return (
    <Dialog<Values>
      title={name}
      action={texts.apply}
      initialValues={{ title: panel.title, filter: panel.search }}
      declared={{
        ...(filter
          ? {
              filter: select({
                label: filter.label,
                required: false,
                data: filter.options,
                ...(filter.help === undefined ? {} : { help: filter.help }),
              }),
            }
          : {}),
        title: text({ label: texts.titleField, help: texts.titleHelp, required: false }),
      }}
      trigger={(open) => (
        <ActionIcon
          variant="subtle"
          aria-label={`${texts.configure}: ${name}`}
          title={texts.configure}
          onClick={open}
        >
          <IconAdjustments size={16} />
        </ActionIcon>
      )}
      onSubmit={({ title, filter: search }) => {
        onApply({ title: title.trim().slice(0, titleMax), search: filter ? search : panel.search })
        return Promise.resolve()
      }}
    />
  )
}

type Filter = { readonly label: string; readonly help?: string; readonly options: readonly Option[] }

/** The choices of the panel's filter; the present one is among them, also if it cannot be chosen any more. */
function useFilterOf(panel: ViewPanel): Filter | undefined {
  const kind = kindOf(panel)
  const views = useChoices(kind === 'traffic')
  const ports = usePorts(kind === 'ports')
  const regions = useRegionOptions(kind === 'announcements')
  const filters: Partial<Record<string, Filter>> = {
    traffic: {
      label: texts.query,
      help: texts.queryHelp,
      options: [{ value: '', label: texts.allTraffic }, ...views],
    },
    attacks: {
      label: texts.days,
      options: [
        { value: '', label: texts.asChosen },
        ...[7, 30, 90].map((days) => ({ value: `?days=${days}`, label: words.chart.days(days) })),
      ],
    },
    ports: { label: texts.port, options: [{ value: '', label: texts.busiest }, ...ports] },
    announcements: { label: texts.region, options: [{ value: '', label: texts.anyRegion }, ...regions] },
  }
  const filter = kind === undefined ? undefined : filters[kind]
  if (!filter || panel.search === '' || filter.options.some(({ value }) => value === panel.search))
    return filter
  return { ...filter, options: [...filter.options, { value: panel.search, label: texts.asNow }] }
}

function useChoices(isEnabled: boolean): readonly Option[] {
  const answer = useQuery({
    ...answerOf(listViewsRoute, { query: { page: 'traffic', limit: 1000 } }),
    enabled: isEnabled,
  })
  return unique(answer.data?.results.map(({ name, search }) => ({ value: search, label: name })) ?? [])
}

function usePorts(isEnabled: boolean): readonly Option[] {
  const answer = useQuery({
    ...answerOf(listPortsRoute, { query: { ordering: 'device_name,name', limit: 1000 } }),
    enabled: isEnabled,
  })
  return (answer.data?.results ?? []).map(({ id, name, device_name: device }) => ({
    value: `?port=${id}`,
    label: `${name} · ${device}`,
  }))
}

function useRegionOptions(isEnabled: boolean): readonly Option[] {
  const answer = useQuery({ ...answerOf(listRegionsRoute, { query: { limit: 1000 } }), enabled: isEnabled })
  return (answer.data?.results ?? []).map(({ slug, name }) => ({
    value: `?region=${encodeURIComponent(slug)}`,
    label: name,
  }))
}

/** Two views may have the same address. */
const unique = (options: readonly Option[]): readonly Option[] =>
  options.filter(({ value }, at) => value !== '' && options.findIndex((one) => one.value === value) === at)
