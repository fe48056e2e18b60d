// Said calmly above the page while the server cannot be asked; it goes away by itself.
import { Alert, Button, Container, Group, Text } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { IconCloudOff } from '@tabler/icons-react'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { Time } from '../ui/time.tsx'
import { wordsOf } from '../ui/problem.tsx'
import { useRepeated } from '../ui/use-repeated.ts'
import { askAgain, isReady, useAway, type Away } from './away.ts'

const lookEveryMs = 3_000

export function AwayBanner() {
  const away = useAway()
  const isMissing = away.kind === 'server' || away.kind === 'part'
  const since = useSince(away.kind)
  useRepeated(isMissing, lookEveryMs, async () => {
    if (await isReady()) await askAgain()
  })
  if (away.kind === 'no') return null
  const [title, text] = wordsFor(away)
  return (
    <Alert color="yellow" role="status" mb="md" icon={<IconCloudOff size={16} />} title={title}>
      <Text size="sm">
        {text} What you see is from <Time at={since} /> or before.
      </Text>
    </Alert>
  )
}

function wordsFor(away: Exclude<Away, { kind: 'no' }>): [string, string] {
  if (away.kind === 'offline') return ['You are offline', 'It goes on by itself once there is a network.']
  if (away.kind === 'server') return ['The server does not answer', 'It is asked again by itself.']
  return [
    `A part of the service is missing: ${away.parts}`,
    'The rest works; what is missing is asked for again by itself.',
  ]
}

/** When it began. */
function useSince(kind: Away['kind']): string {
  const [since, setSince] = useState(() => new Date().toISOString())
  const isAway = kind !== 'no'
  useEffect(() => {
    if (isAway) setSince(new Date().toISOString())
  }, [isAway])
  return since
}

/** In the place of a page that could not even begin: it begins once the server is there. */
export function PageAway({ error }: { error: unknown }) {
  const router = useRouter()
  const { title, detail } = wordsOf(error)
  const text = error instanceof ProblemError ? detail : 'Check the connection.'
  useRepeated(true, lookEveryMs, async () => {
    if (await isReady()) await router.invalidate()
  })
  return (
    <Container py="md">
      <Alert color="yellow" role="status" icon={<IconCloudOff size={16} />} title={title}>
        <Text size="sm">{text} It is tried again by itself.</Text>
        <Group mt="xs">
          <Button variant="default" onClick={() => void router.invalidate()}>
            Try now
          </Button>
        </Group>
      </Alert>
    </Container>
  )
}
