// The saved views of a list: filters, order and columns under a name. They are kept in this browser for each person; a link shares
// one. The default view opens with the list.
import {
  ActionIcon,
  Button,
  Divider,
  Group,
  Popover,
  Stack,
  Text,
  TextInput,
  UnstyledButton,
} from '@mantine/core'
import { useRouter } from '@tanstack/react-router'
import { IconBookmark, IconLink, IconStar, IconStarFilled, IconTrash } from '@tabler/icons-react'
import { useEffect, useState, type SyntheticEvent } from 'react'
import { useUser } from '../api/use-session.ts'
import { notifySuccess } from './notify.ts'
import { storedChoice, useStoredChoice, type StoredChoice } from './stored-choice.ts'
import { words } from './words.ts'
import classes from './list.module.css'

type SavedView = {
  readonly name: string
  /** The search part of its address. */
  readonly search: string
  readonly isDefault?: boolean
}

const stores = new Map<string, StoredChoice<readonly SavedView[]>>()
function viewsOf(list: string, person: number | undefined): StoredChoice<readonly SavedView[]> {
  const key = `pharos-views-${person ?? 0}-${list}`
  const store = stores.get(key) ?? storedChoice<readonly SavedView[]>(key, [])
  stores.set(key, store)
  return store
}

type SavedViewsProps = {
  readonly list: string
  readonly several: string
  /** Suggests the name of a new view. */
  readonly suggestedName: () => string
}

export function SavedViews({ list, several, suggestedName }: SavedViewsProps) {
  const router = useRouter()
  const store = viewsOf(list, useUser()?.id)
  const views = useStoredChoice(store)
  const [opened, setOpened] = useState(false)
  const [name, setName] = useState<string>()
  const current = searchOf(router.latestLocation.search)
  const active = views.find(({ search }) => search === current)
  const show = (search: string) => {
    setOpened(false)
    void router.navigate({ href: router.latestLocation.pathname + search, replace: true })
  }
  // Only a plain address: a link to a part of the list shows that part.
  useEffect(() => {
    const byDefault = views.find(({ isDefault }) => isDefault)
    if (byDefault && Object.keys(router.latestLocation.search).length === 0) show(byDefault.search)
  }, [list])
  const change = (one: SavedView, next: Partial<SavedView> | undefined) =>
    store.set(
      views.flatMap((other) => {
        if (other !== one) return [next?.isDefault ? { ...other, isDefault: false } : other]
        return next ? [{ ...other, ...next }] : []
      }),
    )
  function save(event: SyntheticEvent) {
    event.preventDefault()
    const wanted = name?.trim()
    if (!wanted) return
    store.set([...views.filter((one) => one.name !== wanted), { name: wanted, search: current }])
    setName(undefined)
  }
  const copy = () =>
    void navigator.clipboard
      .writeText(location.origin + router.latestLocation.pathname + current)
      .then(() => notifySuccess(words.views.copied))
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="bottom-start"
      shadow="md"
      width={280}
      trapFocus
      returnFocus
    >
      <Popover.Target>
        <Button
          size="xs"
          variant="default"
          leftSection={<IconBookmark size={14} />}
          aria-expanded={opened}
          onClick={() => setOpened(!opened)}
        >
          {active?.name ?? words.views.button}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={words.views.button}>
        <Stack gap={4}>
          <UnstyledButton className={classes['view']!} onClick={() => show('')}>
            {words.views.all(several)}
          </UnstyledButton>
          {views.map((one) => (
            <Group key={one.name} gap={2} wrap="nowrap">
              <UnstyledButton
                className={classes['view']!}
                aria-current={one === active}
                onClick={() => show(one.search)}
              >
                {one.name}
              </UnstyledButton>
              <ActionIcon
                variant="subtle"
                aria-label={
                  one.isDefault ? words.views.noDefault(one.name) : words.views.makeDefault(one.name)
                }
                aria-pressed={one.isDefault === true}
                onClick={() => change(one, { isDefault: !one.isDefault })}
              >
                {one.isDefault ? <IconStarFilled size={14} /> : <IconStar size={14} />}
              </ActionIcon>
              <ActionIcon
                variant="subtle"
                aria-label={words.views.remove(one.name)}
                onClick={() => change(one, undefined)}
              >
                <IconTrash size={14} />
              </ActionIcon>
            </Group>
          ))}
          <Divider />
          {name === undefined ? (
            <Button
              size="xs"
              variant="subtle"
              justify="flex-start"
              disabled={current === '' || active !== undefined}
              onClick={() => setName(suggestedName())}
            >
              {words.views.save}
            </Button>
          ) : (
            <form onSubmit={save}>
              <Group gap="xs" wrap="nowrap" align="flex-end">
                <TextInput
                  size="xs"
                  flex={1}
                  autoFocus
                  label={words.views.name}
                  maxLength={60}
                  value={name}
                  onChange={({ currentTarget }) => setName(currentTarget.value)}
                />
                <Button size="xs" type="submit" disabled={name.trim() === ''}>
                  {words.views.save}
                </Button>
              </Group>
            </form>
          )}
          <Button
            size="xs"
            variant="subtle"
            justify="flex-start"
            leftSection={<IconLink size={14} />}
            onClick={copy}
          >
            {words.views.copy}
          </Button>
          <Text size="xs" c="dimmed">
            {words.views.saved}
          </Text>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )

  /** Without the row in the side panel: it is not part of a view. */
  function searchOf(search: object): string {
    const { show: _show, ...rest } = search as Record<string, unknown>
    return router.options.stringifySearch(rest)
  }
}
