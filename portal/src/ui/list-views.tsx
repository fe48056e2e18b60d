// The saved views of a list: filters, order and columns under a name, of the user or of the whole team. The default view opens with
// the list; a link to a view opens it for a colleague.
import {
  ActionIcon,
  Button,
  Checkbox,
  Divider,
  Group,
  Loader,
  Popover,
  Stack,
  Text,
  TextInput,
  UnstyledButton,
} from '@mantine/core'
import type { SavedView } from '@pharos/contract/team/view'
import { useRouter } from '@tanstack/react-router'
import {
  IconBookmark,
  IconLink,
  IconStar,
  IconStarFilled,
  IconTrash,
  IconUser,
  IconUsers,
} from '@tabler/icons-react'
import { useEffect, useId, useState, type ReactNode, type SyntheticEvent } from 'react'
import { notifyProblem, notifySuccess } from './notify.ts'
import { Problem } from './problem.tsx'
import {
  deleteView,
  findView,
  saveView,
  shareView,
  useSavedViews,
  type SavedViewsOfPage,
} from './use-saved-views.ts'
import { words } from './words.ts'
import classes from './list.module.css'

const { views: texts } = words

type SavedViewsProps = {
  readonly list: string
  readonly several: string
  /** Suggests the name of a new view. */
  readonly suggestedName: () => string
  /** Further actions with the current view. */
  readonly children?: (search: string, close: () => void) => ReactNode
}

export function SavedViews({ list, several, suggestedName, children }: SavedViewsProps) {
  const router = useRouter()
  const [opened, setOpened] = useState(false)
  const views = useSavedViews(list, opened)
  const current = searchOf(router.latestLocation.search)
  const all = [...views.own, ...views.shared]
  const active = all.find(({ search }) => search === current)
  const show = (search: string) => {
    setOpened(false)
    void router.navigate({ href: router.latestLocation.pathname + search, replace: true })
  }
  useLinkedView(list, show)
  // Only a plain address: a link to a part of the list shows that part.
  useEffect(() => {
    if (views.byDefault && Object.keys(router.latestLocation.search).length === 0)
      show(views.byDefault.search)
  }, [list])
  return (
    <Popover
      opened={opened}
      onChange={setOpened}
      position="bottom-start"
      shadow="md"
      width={320}
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
          {active?.name ?? (views.byDefault?.search === current ? views.byDefault.name : texts.button)}
        </Button>
      </Popover.Target>
      <Popover.Dropdown aria-label={texts.button} className={classes['views']!}>
        <Stack gap={4}>
          <UnstyledButton className={classes['view']!} onClick={() => show('')}>
            {texts.all(several)}
          </UnstyledButton>
          {views.isLoading && <Loader size="xs" mx="auto" my={6} />}
          {views.error !== undefined && <Problem error={views.error} retry={views.retry} />}
          <ViewGroup title={texts.own} views={views.own} of={views} active={active} onShow={show} />
          <ViewGroup title={texts.ofTeam} views={views.shared} of={views} active={active} onShow={show} />
          <Divider />
          <NewView
            of={views}
            list={list}
            search={current}
            suggestedName={suggestedName}
            isKnown={active !== undefined}
          />
          {children?.(current, () => setOpened(false))}
          <CopyLink search={active?.shared ? `?view=${active.id}` : current} />
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

/** Opens the view that the address names, such as `?view=12`. */
function useLinkedView(list: string, show: (search: string) => void): void {
  const router = useRouter()
  const { view } = router.latestLocation.search as { readonly view?: unknown }
  const id = /^\d{1,15}$/.test(String(view ?? '')) ? Number(view) : undefined
  useEffect(() => {
    if (id === undefined) return
    findView(id)
      .then((found) => show(found.page === list ? found.search : ''))
      .catch((error: unknown) => {
        notifyProblem(error)
        show('')
      })
  }, [id, list])
}

const CopyLink = ({ search }: { readonly search: string }) => {
  const router = useRouter()
  const copy = () =>
    void navigator.clipboard
      .writeText(location.origin + router.latestLocation.pathname + search)
      .then(() => notifySuccess(texts.copied))
  return (
    <Button
      size="xs"
      variant="subtle"
      justify="flex-start"
      leftSection={<IconLink size={14} />}
      onClick={copy}
    >
      {texts.copy}
    </Button>
  )
}

type ViewGroupProps = {
  readonly title: string
  readonly views: readonly SavedView[]
  readonly of: SavedViewsOfPage
  readonly active: SavedView | undefined
  readonly onShow: (search: string) => void
}

function ViewGroup({ title, views, of, active, onShow }: ViewGroupProps) {
  const id = useId()
  if (views.length === 0) return null
  return (
    <div role="group" aria-labelledby={id}>
      <Text id={id} size="xs" c="dimmed" fw={500} px={10} pt={6} pb={2}>
        {title}
      </Text>
      {views.map((view) => (
        <ViewLine
          key={view.id}
          view={view}
          of={of}
          isActive={view === active}
          onShow={() => onShow(view.search)}
        />
      ))}
    </div>
  )
}

const failing = (change: Promise<unknown>) => void change.catch(notifyProblem)

type ViewLineProps = {
  readonly view: SavedView
  readonly of: SavedViewsOfPage
  readonly isActive: boolean
  readonly onShow: () => void
}

function ViewLine({ view, of, isActive, onShow }: ViewLineProps) {
  const [isAsking, setAsking] = useState(false)
  const { id, name, shared } = view
  const isDefault = of.byDefault?.id === id
  const remove = () => failing(deleteView(id))
  const canMove = shared ? of.mayTakeBack(view) : of.mayShare
  if (isAsking)
    return (
      <Group gap={6} wrap="nowrap" role="alert" px={10} py={2}>
        <Text size="xs" flex={1}>
          {texts.removeOfTeam(name)}
        </Text>
        <Button size="compact-xs" variant="default" onClick={() => setAsking(false)}>
          {words.cancel}
        </Button>
        <Button size="compact-xs" color="bad" data-autofocus onClick={remove}>
          {texts.removeNow}
        </Button>
      </Group>
    )
  return (
    <Group gap={2} wrap="nowrap">
      <UnstyledButton className={classes['view']!} aria-current={isActive} onClick={onShow}>
        {name}
      </UnstyledButton>
      {canMove && (
        <ActionIcon
          variant="subtle"
          aria-label={shared ? texts.takeBack(name) : texts.share(name)}
          title={shared ? texts.takeBack(name) : texts.share(name)}
          onClick={() => failing(shareView(id, !shared))}
        >
          {shared ? <IconUser size={14} /> : <IconUsers size={14} />}
        </ActionIcon>
      )}
      <ActionIcon
        variant="subtle"
        aria-label={isDefault ? texts.noDefault(name) : texts.makeDefault(name)}
        title={isDefault ? texts.noDefault(name) : texts.makeDefault(name)}
        aria-pressed={isDefault}
        onClick={() => of.setDefault(isDefault ? undefined : view)}
      >
        {isDefault ? <IconStarFilled size={14} /> : <IconStar size={14} />}
      </ActionIcon>
      {of.mayChange(view) && (
        <ActionIcon
          variant="subtle"
          aria-label={texts.remove(name)}
          title={texts.remove(name)}
          onClick={() => (shared ? setAsking(true) : remove())}
        >
          <IconTrash size={14} />
        </ActionIcon>
      )}
    </Group>
  )
}

type NewViewProps = {
  readonly of: SavedViewsOfPage
  readonly list: string
  readonly search: string
  readonly suggestedName: () => string
  /** A view with the same content exists. */
  readonly isKnown: boolean
}

/** The button that saves the current view, and the form behind it. */
function NewView({ of, list, search, suggestedName, isKnown }: NewViewProps) {
  const [name, setName] = useState<string>()
  const [isShared, setShared] = useState(false)
  const [isSaving, setSaving] = useState(false)
  function save(event: SyntheticEvent) {
    event.preventDefault()
    const wanted = name?.trim()
    if (!wanted) return
    setSaving(true)
    saveView(of, { page: list, name: wanted, search, isShared })
      .then(() => setName(undefined), notifyProblem)
      .finally(() => setSaving(false))
  }
  if (name === undefined)
    return (
      <Button
        size="xs"
        variant="subtle"
        justify="flex-start"
        disabled={search === '' || isKnown}
        onClick={() => setName(suggestedName())}
      >
        {texts.save}
      </Button>
    )
  return (
    <form onSubmit={save}>
      <Stack gap="xs" pb={4}>
        <TextInput
          size="xs"
          autoFocus
          label={texts.name}
          maxLength={60}
          value={name}
          onChange={({ currentTarget }) => setName(currentTarget.value)}
        />
        {of.mayShare && (
          <Checkbox
            size="xs"
            label={texts.shareNew}
            checked={isShared}
            onChange={({ currentTarget }) => setShared(currentTarget.checked)}
          />
        )}
        <Button size="xs" type="submit" loading={isSaving} disabled={name.trim() === ''}>
          {texts.save}
        </Button>
      </Stack>
    </form>
  )
}
