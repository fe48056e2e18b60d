// Actions on the selected rows of a list: a bar above the rows, and a dialog that first shows the effect on each row, then applies
// the action row by row with its progress, and lists what failed.
import { Button, Group, List, Modal, Progress, Stack, Text } from '@mantine/core'
import { ProblemError } from '@pharos/contract/client'
import { useEffect, useRef, useState } from 'react'
import classes from './list.module.css'
import { problemText } from './problem-text.ts'
import { StatePill } from './status.tsx'
import { words } from './words.ts'

export type BulkAction<Row> = {
  readonly label: string
  readonly danger?: boolean
  /** Title of the dialog: `Announce 3 prefixes?` */
  readonly title: (count: number) => string
  /** A sentence about the effect of the action. */
  readonly effect: string
  readonly nameOf: (row: Row) => string
  /** Returns the effect on one row without applying it, or undefined; throws the error that prevents it. Left out if no confirmation is needed. */
  readonly preview?: (row: Row, signal: AbortSignal) => Promise<string | undefined>
  readonly apply: (row: Row, signal: AbortSignal) => Promise<unknown>
  /** Called after the last row. */
  readonly onDone: () => Promise<unknown>
}

type BulkBarProps<Row> = {
  readonly actions: readonly BulkAction<Row>[]
  readonly count: number
  /** Rows that match the filters. */
  readonly total: number
  readonly onAll: () => Promise<void>
  readonly onClear: () => void
  readonly rows: () => readonly Row[]
}

export function BulkBar<Row>({ actions, count, total, onAll, onClear, rows }: BulkBarProps<Row>) {
  const [chosen, setChosen] = useState<{ action: BulkAction<Row>; rows: readonly Row[] }>()
  const [isLoading, setLoading] = useState(false)
  return (
    <>
      {count > 0 && (
        <div role="region" aria-label={words.selection.bar} className={classes['bulk']}>
          <Text size="sm" fw={500} aria-live="polite">
            {words.selection.count(count)}
          </Text>
          {count < total && (
            <Button
              size="xs"
              variant="subtle"
              loading={isLoading}
              onClick={() => {
                setLoading(true)
                void onAll().finally(() => setLoading(false))
              }}
            >
              {words.selection.all(total)}
            </Button>
          )}
          {actions.map((action) => (
            <Button
              key={action.label}
              size="xs"
              variant="default"
              onClick={() => setChosen({ action, rows: rows() })}
            >
              {action.label}
            </Button>
          ))}
          <Button size="xs" variant="subtle" onClick={onClear}>
            {words.selection.clear}
          </Button>
        </div>
      )}
      {chosen && (
        <BulkDialog
          action={chosen.action}
          rows={chosen.rows}
          onClose={(isDone) => {
            setChosen(undefined)
            if (isDone) onClear()
          }}
        />
      )}
    </>
  )
}

type Outcome<Row> = { readonly row: Row; readonly text: string; readonly isFailed: boolean }
type Phase = 'checking' | 'confirm' | 'running' | 'done'

type BulkDialogProps<Row> = {
  readonly action: BulkAction<Row>
  readonly rows: readonly Row[]
  /** `isDone`: all rows succeeded. */
  readonly onClose: (isDone: boolean) => void
}

function BulkDialog<Row>({ action, rows, onClose }: BulkDialogProps<Row>) {
  const { label, danger = false, effect, preview, apply, nameOf } = action
  const [phase, setPhase] = useState<Phase>(preview ? 'checking' : 'confirm')
  const [outcomes, setOutcomes] = useState<readonly Outcome<Row>[]>([])
  const [todo, setTodo] = useState(rows)
  const running = useRef<AbortController>(undefined)

  async function run(each: readonly Row[], act: (row: Row, signal: AbortSignal) => Promise<unknown>) {
    const { signal } = (running.current = new AbortController())
    const found: Outcome<Row>[] = []
    setOutcomes([])
    await inParallel(each, signal, async (row) => {
      const outcome = await outcomeOf(row, act, signal)
      if (signal.aborted && outcome.isFailed) return
      found.push(outcome)
      setOutcomes([...found])
    })
    return { found, isStopped: signal.aborted }
  }

  async function check() {
    const { found, isStopped } = await run(rows, preview!)
    if (isStopped) return
    setTodo(found.filter(({ isFailed, text }) => !isFailed && text !== '').map(({ row }) => row))
    setPhase('confirm')
  }
  useEffect(() => {
    if (preview) void check()
    return () => running.current?.abort()
  }, [])

  async function applyAll(each: readonly Row[]) {
    setTodo(each)
    setPhase('running')
    await run(each, apply)
    setPhase('done')
    await action.onDone()
  }

  const failed = outcomes.filter(({ isFailed }) => isFailed)
  const succeeded = outcomes.filter(
    (one) => !one.isFailed && (phase === 'running' || phase === 'done' || one.text !== ''),
  )
  const unchanged = phase === 'confirm' ? outcomes.length - failed.length - succeeded.length : 0
  const isBusy = phase === 'checking' || phase === 'running'
  const count = phase === 'checking' ? rows.length : todo.length
  const left = todo.length - outcomes.length
  const close = () => {
    running.current?.abort()
    onClose(phase === 'done' && failed.length === 0 && left === 0)
  }
  return (
    <Modal
      opened
      onClose={close}
      title={action.title(rows.length)}
      size="lg"
      // A stray click must not hide a running action.
      closeOnClickOutside={phase !== 'running'}
      closeOnEscape={phase !== 'running'}
      withCloseButton={phase !== 'running'}
    >
      <Stack>
        <Text size="sm">{effect}</Text>
        {isBusy && (
          <div aria-live="polite">
            <Text size="sm" mb={4}>
              {(phase === 'checking' ? words.bulk.checking : words.bulk.running)(outcomes.length, count)}
            </Text>
            <Progress value={(100 * outcomes.length) / Math.max(1, count)} aria-label={words.bulk.progress} />
          </div>
        )}
        {phase === 'confirm' && preview && (
          <Text size="sm" fw={500}>
            {words.bulk.possible(succeeded.length)}
          </Text>
        )}
        {phase === 'done' && (
          <Group>
            <StatePill color={failed.length > 0 || left > 0 ? 'warn' : 'ok'}>
              {words.bulk.succeeded(succeeded.length)}
            </StatePill>
          </Group>
        )}
        {unchanged > 0 && <Text size="sm">{words.bulk.unchanged(unchanged)}</Text>}
        {phase !== 'checking' && <Outcomes outcomes={succeeded} nameOf={nameOf} />}
        {!isBusy && failed.length > 0 && (
          <>
            <Group>
              <StatePill color="bad">
                {(phase === 'done' ? words.bulk.failed : words.bulk.impossible)(failed.length)}
              </StatePill>
            </Group>
            <Outcomes outcomes={failed} nameOf={nameOf} />
          </>
        )}
        {phase === 'done' && left > 0 && <Text size="sm">{words.bulk.stopped(left)}</Text>}
        <Group justify="flex-end">
          {phase === 'running' ? (
            <Button variant="default" onClick={() => running.current?.abort()}>
              {words.bulk.stop}
            </Button>
          ) : (
            <Button variant="default" onClick={close}>
              {phase === 'done' ? words.bulk.close : words.bulk.cancel}
            </Button>
          )}
          {phase === 'done'
            ? failed.length + left > 0 && (
                <Button
                  onClick={() =>
                    void applyAll(todo.filter((row) => !succeeded.some((one) => one.row === row)))
                  }
                >
                  {words.bulk.retry}
                </Button>
              )
            : phase !== 'running' && (
                <Button
                  color={danger ? 'bad' : 'accent'}
                  disabled={phase !== 'confirm' || todo.length === 0}
                  onClick={() => void applyAll(todo)}
                >
                  {label}
                </Button>
              )}
        </Group>
      </Stack>
    </Modal>
  )
}

function Outcomes<Row>({
  outcomes,
  nameOf,
}: {
  outcomes: readonly Outcome<Row>[]
  nameOf: (row: Row) => string
}) {
  if (outcomes.length === 0) return null
  return (
    <List size="sm" className={classes['outcomes']!}>
      {outcomes.map(({ row, text }) => (
        <List.Item key={nameOf(row)}>
          <b>{nameOf(row)}</b> {text}
        </List.Item>
      ))}
    </List>
  )
}

const tooManyRequests = 429

/** Waits when the server asks to, and tries again. */
async function outcomeOf<Row>(
  row: Row,
  act: (row: Row, signal: AbortSignal) => Promise<unknown>,
  signal: AbortSignal,
): Promise<Outcome<Row>> {
  for (;;) {
    try {
      const text = await act(row, signal)
      return { row, text: typeof text === 'string' ? text : '', isFailed: false }
    } catch (error) {
      const isLimited = error instanceof ProblemError && error.problem.status === tooManyRequests
      if (!isLimited || signal.aborted) return { row, text: problemText(error).detail, isFailed: true }
      await new Promise((resolve) => setTimeout(resolve, (error.retryAfterSeconds ?? 1) * 1000))
    }
  }
}

const atOnce = 4

/** Runs a task for each item, a few at a time; no further one is started once the signal is aborted. */
async function inParallel<T>(
  items: readonly T[],
  signal: AbortSignal,
  task: (item: T) => Promise<void>,
): Promise<void> {
  let next = 0
  const worker = async () => {
    for (let at = next++; at < items.length && !signal.aborted; at = next++) await task(items[at]!)
  }
  await Promise.all(Array.from({ length: Math.min(atOnce, items.length) }, worker))
}
