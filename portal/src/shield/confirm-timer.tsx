// Above every page while a list is not confirmed: how long until the earlier rules are restored, and the actions. The time
// comes from the server, so that it survives a reload.
import { Alert, Button, Group, Text } from '@mantine/core'
import { listShieldListsRoute, type ShieldList } from '@pharos/contract/shield/shield'
import { IconClockShield } from '@tabler/icons-react'
import { useMutation } from '@tanstack/react-query'
import { useAnswer } from '../api/queries.ts'
import { useGrant } from '../api/use-grant.ts'
import { ButtonLink } from '../ui/link.tsx'
import { notifyProblem, notifySuccess } from '../ui/notify.ts'
import { clockText, useSecondsUntil } from './countdown.ts'
import { confirmList, revertList } from './use-lists.ts'
import { words } from './words.ts'
import classes from './shield.module.css'

const { timer: texts } = words
const shownMax = 3

/** Renders only if a list is not confirmed. */
export function ConfirmTimers() {
  const { data } = useAnswer(listShieldListsRoute, { query: { limit: 1000 } }, { refetchInterval: 10_000 })
  const open = (data?.results ?? [])
    .filter(({ confirm_by: by }) => by !== null)
    .toSorted((a, b) => Date.parse(a.confirm_by!) - Date.parse(b.confirm_by!))
  return (
    <>
      {open.slice(0, shownMax).map((list) => (
        <ConfirmTimer key={`${list.prefix} ${list.version}`} list={list} confirmBy={list.confirm_by!} />
      ))}
      {open.length > shownMax && (
        <Text size="sm" c="dimmed" mb="md">
          {texts.more(open.length - shownMax)}
        </Text>
      )}
    </>
  )
}

function ConfirmTimer({ list, confirmBy }: { readonly list: ShieldList; readonly confirmBy: string }) {
  const left = useSecondsUntil(confirmBy)
  const canChange = useGrant('shield.apply')
  const { prefix } = list
  const confirm = useMutation({
    mutationFn: () => confirmList(list),
    onSuccess: () => notifySuccess(texts.confirmed),
    onError: notifyProblem,
  })
  const revert = useMutation({
    mutationFn: () => revertList(list),
    onSuccess: () => notifySuccess(texts.reverted),
    onError: notifyProblem,
  })
  return (
    <Alert
      color="warn"
      mb="md"
      role="region"
      aria-label={texts.title(prefix)}
      icon={<IconClockShield size={16} />}
      title={texts.title(prefix)}
      data-confirm={prefix}
    >
      <Group justify="space-between" gap="xs">
        <Text size="sm" className={classes['left']!}>
          {left > 0 ? texts.left(clockText(left)) : texts.over}
        </Text>
        <Group gap="xs">
          {canChange && left > 0 && (
            <>
              <Button size="xs" loading={confirm.isPending} onClick={() => confirm.mutate()}>
                {texts.confirm}
              </Button>
              <Button size="xs" variant="default" loading={revert.isPending} onClick={() => revert.mutate()}>
                {texts.revert}
              </Button>
            </>
          )}
          <ButtonLink size="xs" variant="default" to="/shield/rules" search={{ prefix }}>
            {texts.view}
          </ButtonLink>
        </Group>
      </Group>
    </Alert>
  )
}
