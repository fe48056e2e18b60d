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
import {
  IconBookmark,
  IconLink,
  IconPin,
  IconPinFilled,
  IconStar,
  IconStarFilled,
  IconTrash,
} from '@tabler/icons-react'
import { useEffect, useState, type SyntheticEvent } from 'react'
import { notifySuccess } from './notify.ts'
import { pinnedOf, pinsMax, withChange, withView, type SavedView } from './saved-views.ts'
import { useSavedViews } from './use-saved-views.ts'
import { words } from './words.ts'
import classes from './list.module.css'

type SavedViewsProps = {
  readonly list: string
  readonly several: string
  /** Suggests the name of a new view. */
  readonly suggestedName: () => string
  /** Whether views can be pinned to the overview. */
  readonly canPin?: boolean
}

export function SavedViews({ list, several, suggestedName, canPin = false }: SavedViewsProps) {
  const router = useRouter()
  const [views, setViews] = useSavedViews(list)
  const [opened, setOpened] = useState(false)
  const [name, setName] = useState<string>()
  const [isFull, setFull] = useState(false)
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
  function pin(wanted: string, isPinned: boolean) {
    const isTooMany = isPinned && pinnedOf(views).length >= pinsMax
    setFull(isTooMany)
    if (!isTooMany) setViews(withChange(views, wanted, { isPinned }))
  }
  function save(event: SyntheticEvent) {
    event.preventDefault()
    const wanted = name?.trim()
    if (!wanted) return
    setViews(withView(views, wanted, current))
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
      width={canPin ? 320 : 280}
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
            <ViewLine
              key={one.name}
              view={one}
              isActive={one === active}
              onShow={() => show(one.search)}
              onPin={canPin ? () => pin(one.name, !one.isPinned) : undefined}
              onDefault={() => setViews(withChange(views, one.name, { isDefault: !one.isDefault }))}
              onRemove={() => {
                setFull(false)
                setViews(views.filter((other) => other !== one))
              }}
            />
          ))}
          {isFull && (
            <Text size="xs" c="bad" role="alert" px={10}>
              {words.views.pinsFull(pinsMax)}
            </Text>
          )}
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
            <ViewName name={name} setName={setName} onSubmit={save} />
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

type ViewLineProps = {
  readonly view: SavedView
  readonly isActive: boolean
  readonly onShow: () => void
  /** Undefined if views cannot be pinned. */
  readonly onPin: (() => void) | undefined
  readonly onDefault: () => void
  readonly onRemove: () => void
}

const ViewLine = ({ view, isActive, onShow, onPin, onDefault, onRemove }: ViewLineProps) => (
  <Group gap={2} wrap="nowrap">
    <UnstyledButton className={classes['view']!} aria-current={isActive} onClick={onShow}>
      {view.name}
    </UnstyledButton>
    {onPin && (
      <ActionIcon
        variant="subtle"
        aria-label={view.isPinned ? words.views.unpin(view.name) : words.views.pin(view.name)}
        aria-pressed={view.isPinned === true}
        onClick={onPin}
      >
        {view.isPinned ? <IconPinFilled size={14} /> : <IconPin size={14} />}
      </ActionIcon>
    )}
    <ActionIcon
      variant="subtle"
      aria-label={view.isDefault ? words.views.noDefault(view.name) : words.views.makeDefault(view.name)}
      aria-pressed={view.isDefault === true}
      onClick={onDefault}
    >
      {view.isDefault ? <IconStarFilled size={14} /> : <IconStar size={14} />}
    </ActionIcon>
    <ActionIcon variant="subtle" aria-label={words.views.remove(view.name)} onClick={onRemove}>
      <IconTrash size={14} />
    </ActionIcon>
  </Group>
)

type ViewNameProps = {
  readonly name: string
  readonly setName: (name: string) => void
  readonly onSubmit: (event: SyntheticEvent) => void
}

const ViewName = ({ name, setName, onSubmit }: ViewNameProps) => (
  <form onSubmit={onSubmit}>
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
)
