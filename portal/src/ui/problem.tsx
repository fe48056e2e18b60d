// A problem in its place on the page, with the request's id for the provider.
import { Alert, Anchor, Code, Group, List, Text } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { isConnectionError } from '../api/connection.ts'
import { problemText } from './problem-text.ts'
import { formatDuration } from './time.tsx'
import { useRetryAfter } from './use-retry-after.ts'

export function Problem({ error }: { error: unknown }) {
  const { title, detail } = problemText(error)
  const problem = error instanceof ProblemError ? error.problem : undefined
  const wait = useRetryAfter(error)
  // The detail of an invalid request repeats its errors, which are listed.
  const isListed = problem?.code === 'invalid' && problem.errors !== undefined
  return (
    <Alert color={isConnectionError(error) ? 'idle' : 'bad'} title={title} role="alert">
      {!isListed && <Text size="sm">{detail}</Text>}
      {problem?.errors && (
        <List size="sm" mt="xs">
          {problem.errors.map(({ loc, msg }) => (
            <List.Item key={`${loc.join('.')} ${msg}`}>
              <Code>{loc.slice(1).join('.') || loc[0]}</Code> {msg}
            </List.Item>
          ))}
        </List>
      )}
      {problem && (
        <Group gap="xs" mt="xs">
          {wait > 0 && (
            <Text size="xs" c="dimmed">
              Try again in {formatDuration(wait * 1000)}.
            </Text>
          )}
          <Anchor size="xs" href={problem.type} target="_blank">
            {problem.code}
          </Anchor>
          <Text size="xs" c="dimmed">
            Request ID {problem.request_id}
          </Text>
        </Group>
      )}
    </Alert>
  )
}
