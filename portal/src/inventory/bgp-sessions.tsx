// The BGP sessions of a port or of all ports of a service.
import { Stack } from '@mantine/core'
import type { BgpSession, BgpState } from '@pharos/contract/inventory/bgp-session'
import { Dimmed } from '../ui/cells.tsx'
import { Facts } from '../ui/facts.tsx'
import { Section } from '../ui/section.tsx'
import { StatePill, type StateColor } from '../ui/status.tsx'
import { Time } from '../ui/time.tsx'
import { words } from './words.ts'

const { bgp: texts } = words

const colors: Readonly<Record<BgpState, StateColor>> = {
  idle: 'bad',
  connect: 'warn',
  active: 'warn',
  opensent: 'warn',
  openconfirm: 'warn',
  established: 'ok',
  disabled: 'idle',
  unknown: 'idle',
}

/** Renders only if there are sessions. */
export function BgpSessions({ sessions }: { sessions: readonly BgpSession[] | undefined }) {
  if (!sessions || sessions.length === 0) return null
  return (
    <Section title={texts.title}>
      <Facts
        facts={sessions.map((session) => [
          texts.peer(session.peer, session.peer_asn),
          <Session key={`${session.port_id} ${session.peer}`} {...session} />,
        ])}
      />
    </Section>
  )
}

const Session = ({ state, established, prefixes, last_reset: reset }: BgpSession) => (
  <Stack gap={2}>
    <span>
      <StatePill color={colors[state]}>{texts.states[state]}</StatePill>{' '}
      {established && (
        <Dimmed>
          {state === 'established' ? texts.since : texts.last} <Time at={established} />
        </Dimmed>
      )}
    </span>
    {prefixes.map((one) => (
      <Dimmed key={one.family}>{prefixesText(one)}</Dimmed>
    ))}
    {reset && (
      <Dimmed>
        {texts.reset} {reset.at ? <Time at={reset.at} /> : texts.unknownTime}:{' '}
        {[reset.message, reset.detail].filter(Boolean).join(' ')}
      </Dimmed>
    )}
  </Stack>
)

function prefixesText({ family, received, limit }: BgpSession['prefixes'][number]): string | null {
  if (received === null) return null
  const [label, count] = [texts.families[family], received.toLocaleString('en')]
  return limit === null
    ? texts.received(label, count)
    : texts.ofLimit(label, count, limit.toLocaleString('en'))
}
