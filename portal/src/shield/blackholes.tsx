// The black holes of the team: on the page of shield, and for one host on the page of an attack.
import { Button, Stack, Text } from '@mantine/core'
import { listBlackholesRoute, type Blackhole } from '@pharos/contract/shield/blackhole'
import { useState, type ReactNode } from 'react'
import { useAnswer } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { Problem } from '../ui/problem.tsx'
import { Section } from '../ui/section.tsx'
import { BlackholeDialog } from './blackhole-dialog.tsx'
import { BlackholeState } from './blackhole-state.tsx'
import { words } from './words.ts'

const { blackholes: texts } = words

/** The newest black holes, and the start of another one. */
export function Blackholes() {
  const canChange = useGrant('shield.apply')
  const [isOpen, setOpen] = useState(false)
  const answer = useAnswer(listBlackholesRoute, { query: { limit: 5 } }, { refetchInterval: 3_000 })
  return (
    <Section
      title={texts.title}
      actions={
        canChange && (
          <Button size="xs" variant="default" onClick={() => setOpen(true)}>
            {texts.add}
          </Button>
        )
      }
    >
      <Stack>
        <Text size="sm" c="dimmed">
          {texts.note}
        </Text>
        {answer.error && !answer.data && <Problem error={answer.error} retry={() => answer.refetch()} />}
        {answer.data?.count === 0 && <Text size="sm">{texts.none}</Text>}
        {answer.data?.results.map((one) => (
          <BlackholeState key={one.id} blackhole={one} />
        ))}
      </Stack>
      {isOpen && <BlackholeDialog onClose={() => setOpen(false)} />}
    </Section>
  )
}

type OfHostProps = {
  readonly host: string
  readonly eventId: string
  /** False if a request is impossible: the attack has ended, or the host is not announced. */
  readonly canStart: boolean
  readonly frame: (title: string, text: ReactNode, tools?: ReactNode) => ReactNode
}

/** The last resort in an attack: the active black hole with its remaining time, or the form to start one. Renders only if either applies. */
export function BlackholeOfHost({ host, eventId, canStart, frame }: OfHostProps) {
  const canChange = useGrant('shield.apply')
  const [isOpen, setOpen] = useState(false)
  const answer = useAnswer(
    listBlackholesRoute,
    { query: { host: [host], ongoing: true } },
    { refetchInterval: 3_000 },
  )
  if (answer.error && !answer.data)
    return frame(texts.title, <Problem error={answer.error} retry={() => answer.refetch()} />)
  const ongoing: readonly Blackhole[] = answer.data?.results ?? []
  if (ongoing.length > 0)
    return frame(
      texts.title,
      ongoing.map((one) => <BlackholeState key={one.id} blackhole={one} linked={false} />),
    )
  if (!answer.data || !canStart || !canChange) return null
  return frame(
    texts.step,
    texts.stepText,
    <>
      <Button color="bad" variant="outline" onClick={() => setOpen(true)}>
        {texts.open}
      </Button>
      {isOpen && <BlackholeDialog host={host} eventId={eventId} onClose={() => setOpen(false)} />}
    </>,
  )
}
