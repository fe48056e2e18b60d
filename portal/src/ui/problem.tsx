// A problem in its place on the page: the error, the correction, Retry if the request can be repeated, and the request's id to
// quote to the provider.
import { Alert, Button, Group, List, Text } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { isConnectionError } from '../api/connection.ts'
import { CopyIcon } from './copy.tsx'
import { errorSentence } from './form-errors.ts'
import { problemText } from './problem-text.ts'
import { formatDuration, Time } from './time.tsx'
import { useRetryAfter } from './use-retry-after.ts'
import { words } from './words.ts'

type ProblemProps = {
  readonly error: unknown
  /** Repeats the request; every load error has it. */
  readonly retry?: () => unknown
  /** Time of the answer that is still on the page, milliseconds since 1970. */
  readonly asOf?: number | undefined
}

export function Problem({ error, retry, asOf }: ProblemProps) {
  const { title, detail } = problemText(error)
  const problem = error instanceof ProblemError ? error.problem : undefined
  const wait = useRetryAfter(error)
  const sentences = [...new Set(problem?.errors?.map((one) => errorSentence(undefined, one)))]
  return (
    <Alert color={isConnectionError(error) ? 'idle' : 'bad'} title={title} role="alert">
      {sentences.length === 0 && <Text size="sm">{detail}</Text>}
      {sentences.length > 0 && (
        <List size="sm">
          {sentences.map((text) => (
            <List.Item key={text}>{text}</List.Item>
          ))}
        </List>
      )}
      {asOf !== undefined && (
        <Text size="sm">
          {words.notUpdatedSince} <Time at={new Date(asOf).toISOString()} />.
        </Text>
      )}
      {(retry || wait > 0 || problem) && (
        <Group gap="xs" mt="xs">
          {retry && (
            <Button variant="default" disabled={wait > 0} onClick={() => void retry()}>
              {words.retry}
            </Button>
          )}
          {wait > 0 && <Text size="xs">{words.tryAgainIn(formatDuration(wait * 1000))}</Text>}
          {problem && (
            <Group gap={4} wrap="nowrap">
              <Text size="xs" c="dimmed">
                {words.requestId(problem.request_id)}
              </Text>
              <CopyIcon text={problem.request_id} label={words.copyRequestId} />
            </Group>
          )}
        </Group>
      )}
    </Alert>
  )
}
