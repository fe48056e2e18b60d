// Above the page while the server cannot be reached; it disappears once the server answers.
import { Alert, Button, Container, Group, Text } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { IconCloudOff } from '@tabler/icons-react'
import { useRouter } from '@tanstack/react-router'
import { useEffect, useState } from 'react'
import { isServerReady, refetchFailed, useConnection, type Connection } from '../api/connection.ts'
import { problemText } from '../ui/problem-text.ts'
import { Time } from '../ui/time.tsx'
import { usePolling } from '../ui/use-polling.ts'

const pollMs = 3_000

export function ConnectionBanner() {
  const connection = useConnection()
  const isDown = connection.kind === 'server_down' || connection.kind === 'part_down'
  const since = useSince(connection.kind)
  usePolling(isDown, pollMs, async () => {
    if (await isServerReady()) await refetchFailed()
  })
  if (connection.kind === 'up') return null
  const [title, text] = textFor(connection)
  return (
    <Alert color="warn" role="status" mb="md" icon={<IconCloudOff size={16} />} title={title}>
      <Text size="sm">
        {text} Data as of <Time at={since} />.
      </Text>
    </Alert>
  )
}

function textFor(connection: Exclude<Connection, { kind: 'up' }>): [title: string, text: string] {
  if (connection.kind === 'offline') return ['You are offline', 'We reconnect automatically.']
  if (connection.kind === 'server_down') return ['Connection lost', 'Reconnecting…']
  return [`Temporarily unavailable: ${connection.parts}`, 'Everything else works. Retrying…']
}

/** When the connection changed last. */
function useSince(kind: Connection['kind']): string {
  const [since, setSince] = useState(() => new Date().toISOString())
  const isDown = kind !== 'up'
  useEffect(() => {
    if (isDown) setSince(new Date().toISOString())
  }, [isDown])
  return since
}

/** In place of a page that could not load; it loads once the server is up. */
export function PageUnreachable({ error }: { error: unknown }) {
  const router = useRouter()
  const { title, detail } = problemText(error)
  const text = error instanceof ProblemError ? detail : 'Check your connection.'
  usePolling(true, pollMs, async () => {
    if (await isServerReady()) await router.invalidate()
  })
  return (
    <Container py="md">
      <Alert color="warn" role="status" icon={<IconCloudOff size={16} />} title={title}>
        <Text size="sm">{text} Retrying automatically.</Text>
        <Group mt="xs">
          <Button variant="default" onClick={() => void router.invalidate()}>
            Try now
          </Button>
        </Group>
      </Alert>
    </Container>
  )
}
