// The changes of a port, the newest first.
import { getPortRoute, type Port, type PortChangeKind } from '@pharos/contract/inventory/port'
import { useAnswer } from '../api/queries.ts'
import { Dimmed } from '../ui/cells.tsx'
import { FailedSection } from '../ui/failed-section.tsx'
import { Facts } from '../ui/facts.tsx'
import { formatRate } from '../ui/rate.ts'
import { Section } from '../ui/section.tsx'
import { Time } from '../ui/time.tsx'
import { words } from './words.ts'

const { portLog: texts } = words
type Change = NonNullable<Port['log']>[number]

const shown = 20

export function PortLog({ portId }: { portId: number }) {
  const answer = useAnswer(
    getPortRoute,
    { params: { port_id: portId }, query: { include: 'log' } },
    { refetchInterval: 60_000 },
  )
  if (answer.error && !answer.data) return <FailedSection title={texts.title} answer={answer} />
  const log = answer.data?.log
  if (!log) return null
  return (
    <Section title={texts.title}>
      {log.length === 0 ? (
        <Dimmed>{texts.none}</Dimmed>
      ) : (
        <Facts facts={log.slice(0, shown).map((change, at) => ['', <Row key={at} {...change} />])} />
      )}
    </Section>
  )
}

const Row = ({ at, kind, before, after }: Change) => (
  <>
    <Time at={at} /> · {textOf[kind](before, after)}
  </>
)

type TextOf = (before: string, after: string) => string
const stateText = (state: string): string =>
  state in words.state ? words.state[state as keyof typeof words.state] : state
const speedText = (bps: string): string => (bps === '' ? texts.unknown : formatRate(Number(bps), 'bps'))

const textOf: Readonly<Record<PortChangeKind, TextOf>> = {
  oper: (before, after) => texts.state(stateText(before), stateText(after)),
  admin: (_, after) => (after === 'down' ? texts.disabled : texts.enabled),
  speed: (before, after) => texts.speed(speedText(before), speedText(after)),
  module: (before, after) =>
    after === ''
      ? texts.removed(before)
      : before === ''
        ? texts.inserted(after)
        : texts.swapped(before, after),
}
