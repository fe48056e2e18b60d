// Reasons why traffic is unavailable: the store is down, the query needs too much work, or another problem. It must not look like
// an absence of traffic.
import { Alert, Button, Group, List, Text } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { Problem } from '../ui/problem.tsx'
import { words } from './words.ts'

const { state: texts } = words

export type FlowFailure = 'store' | 'expensive' | 'other'

/** Returns what failed: `unavailable` with `clickhouse` among the dependencies is the store. */
export function failureOf(error: unknown): FlowFailure {
  if (!(error instanceof ProblemError)) return 'other'
  const { code, degraded = [] } = error.problem
  if ((code as string) === 'query_too_expensive') return 'expensive'
  return degraded.includes('clickhouse') ? 'store' : 'other'
}

export type Remedy = { readonly label: string; readonly apply: () => void }

type FlowProblemProps = {
  readonly error: unknown
  readonly retry: () => unknown
  /** Changes that make the query cheaper. */
  readonly remedies?: readonly Remedy[]
}

export function FlowProblem({ error, retry, remedies = [] }: FlowProblemProps) {
  const failure = failureOf(error)
  if (failure === 'other') return <Problem error={error} retry={retry} />
  const isStore = failure === 'store'
  return (
    <Alert
      role="alert"
      color={isStore ? 'bad' : 'warn'}
      title={isStore ? texts.storeTitle : texts.expensiveTitle}
    >
      <Text size="sm">{isStore ? texts.storeText : texts.expensiveText}</Text>
      {!isStore && (
        <List size="sm" mt={4}>
          {remedies.map(({ label, apply }) => (
            <List.Item key={label}>
              <Button size="compact-sm" variant="subtle" onClick={apply}>
                {label}
              </Button>
            </List.Item>
          ))}
          <List.Item>{texts.addFilter}</List.Item>
        </List>
      )}
      <Group mt="xs">
        <Button variant="default" onClick={() => void retry()}>
          {texts.retry}
        </Button>
      </Group>
    </Alert>
  )
}
