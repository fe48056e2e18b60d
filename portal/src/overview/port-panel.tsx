// The traffic of one port as a panel of the overview, loaded with the charts.
import { Skeleton } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { getPortRoute } from '@pharos/contract/inventory/port'
import { useAnswer } from '../api/queries.ts'
import { UsageCard } from '../inventory/usage.tsx'
import { TextLink } from '../ui/link.tsx'
import { PanelNote } from './panel-note.tsx'
import { Problem } from '../ui/problem.tsx'
import { words } from './words.ts'

type Props = { readonly id: number; readonly title?: string; readonly height: number }

export function PortPanel({ id, title, height }: Props) {
  const answer = useAnswer(getPortRoute, { params: { port_id: id } }, { refetchInterval: 60_000 })
  const port = answer.data
  const name = title ?? port?.name ?? words.panels.kinds.ports
  if (!port) {
    if (!answer.error) return <Skeleton height="100%" mih={height} radius="lg" />
    const isGone = answer.error instanceof ProblemError && answer.error.problem.status === 404
    return (
      <PanelNote title={name}>
        {isGone ? words.ports.gone : <Problem error={answer.error} retry={() => answer.refetch()} />}
      </PanelNote>
    )
  }
  return (
    <UsageCard
      port={port}
      isChartOnly
      height={height}
      title={
        <TextLink to="/ports/$id" params={{ id: String(id) }} inherit c="inherit">
          {title ?? `${port.name} · ${port.device_name}`}
        </TextLink>
      }
    />
  )
}
