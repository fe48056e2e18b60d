// What went wrong, in the server's words, with what to do next and the id that the provider asks for.
import { Alert, Anchor, Code, Group, List, Text } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { problems, type ProblemCode } from '@pharos/contract/problem'
import { notifications } from '@mantine/notifications'
import { isAway } from '../session/away.ts'
import { formatDuration } from './time.tsx'
import { useWait } from './use-wait.ts'

export function wordsOf(error: unknown): { title: string; detail: string } {
  if (error instanceof ProblemError) return error.problem
  return { title: 'The server cannot be reached', detail: 'Check the connection; what you see may be old.' }
}

export function Problem({ error }: { error: unknown }) {
  const { title, detail } = wordsOf(error)
  const problem = error instanceof ProblemError ? error.problem : undefined
  const wait = useWait(error)
  // Each mistake stands in the list below, and the advice is for who reads the answer itself.
  const isListed = problem?.code === 'invalid' && problem.errors !== undefined
  // What did not arrive is no answer: it is told calmly, and asked for again.
  return (
    <Alert color={isAway(error) ? 'gray' : 'red'} title={title} role="alert">
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
          {!isListed && (
            <Text size="xs" c="dimmed">
              {wait > 0
                ? `Try again in ${formatDuration(wait * 1000)}.`
                : problems[problem.code as ProblemCode]?.help}
            </Text>
          )}
          <Anchor size="xs" href={problem.type} target="_blank">
            {problem.code}
          </Anchor>
          <Text size="xs" c="dimmed">
            request {problem.request_id}
          </Text>
        </Group>
      )}
    </Alert>
  )
}

/** For what was asked by a click and has no place of its own. */
export function tellProblem(error: unknown): void {
  const { title, detail } = wordsOf(error)
  notifications.show({ color: 'red', title, message: detail, autoClose: 10_000 })
}

export function tell(message: string): void {
  notifications.show({ color: 'teal', message })
}

/** The message of a field of the body, where the server found one. */
export function fieldError(error: unknown, field: string): string | undefined {
  if (!(error instanceof ProblemError)) return undefined
  return error.problem.errors?.find(({ loc }) => loc[0] === 'body' && loc.includes(field))?.msg
}
