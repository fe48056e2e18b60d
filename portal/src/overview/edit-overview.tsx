// The overview while it is edited: panels are added, moved, sized, filtered and removed, and stored together.
import { ActionIcon, Button, Menu, Text, Tooltip, VisuallyHidden } from '@mantine/core'
import { panelHeights, panelsMax, panelWidths, type ViewPanel } from '@pharos/contract/team/view'
import { IconCheck, IconDots, IconGripVertical, IconPlus, IconTrash } from '@tabler/icons-react'
import { useEffect, useRef, useState, type KeyboardEvent } from 'react'
import { useGrant, useSeenModules } from '../api/use-grant.ts'
import { askToDiscard } from '../api/unsaved.ts'
import { useUser } from '../api/use-session.ts'
import { notifyProblem, notifySuccess } from '../ui/notify.ts'
import { canAdd, modulesOfPanels, moved, newPanel, panelKindNames } from '../ui/overview-panels.ts'
import { Page } from '../ui/page.tsx'
import { PageMenu } from '../ui/page-menu.tsx'
import { UnsavedGuard } from '../ui/unsaved-guard.tsx'
import {
  resetOwnPanels,
  saveOwnPanels,
  savePanelsOfTeam,
  type OverviewLayout,
} from '../ui/use-overview-layout.ts'
import classes from './overview.module.css'
import { PanelContent, panelName } from './panel-content.tsx'
import { hasSettings, PanelSettings } from './panel-settings.tsx'
import { Panel } from './panel.tsx'
import { useDrag } from './use-drag.ts'
import { words } from './words.ts'

const { edit: texts, panels: panelTexts } = words

/** A panel with a key that stays while it moves. */
type Draft = { readonly key: string; readonly panel: ViewPanel }

type Props = {
  readonly layout: OverviewLayout
  /** The panels on the screen. */
  readonly panels: readonly ViewPanel[]
  readonly note: string
  readonly onClose: () => void
}

export function EditOverview({ layout, panels, note, onClose }: Props) {
  const person = useUser()?.id ?? 0
  const isAdmin = useGrant('team.manage')
  const [saving, setSaving] = useState<string>()
  const editor = useEditor(panels)
  const grid = useRef<HTMLDivElement>(null)
  const drag = useDrag(grid, editor.take)
  const leave = () => void askToDiscard().then((isDiscarded) => isDiscarded && onClose())
  /** `what` names the action that is running. */
  async function run(what: string, done: string, change: () => Promise<unknown>): Promise<void> {
    setSaving(what)
    try {
      await change()
      notifySuccess(done)
      onClose()
    } catch (error) {
      notifyProblem(error)
      setSaving(undefined)
    }
  }
  return (
    <Page
      title={texts.title}
      note={note}
      wide
      actions={
        <>
          <AddPanel isFull={!canAdd(editor.drafts)} onAdd={editor.add} />
          <Button size="xs" variant="default" onClick={leave}>
            {texts.cancel}
          </Button>
          <Button
            size="xs"
            loading={saving === 'own'}
            onClick={() => void run('own', texts.saved, () => saveOwnPanels(layout, person, editor.panels))}
          >
            {texts.save}
          </Button>
          <PageMenu label={texts.more} width={260}>
            <Menu.Item
              disabled={layout.own === undefined}
              onClick={() => void run('reset', texts.wasReset, () => resetOwnPanels(layout, person))}
            >
              {layout.ofTeam ? texts.reset : texts.resetBuiltIn}
            </Menu.Item>
            {isAdmin && (
              <Menu.Item
                onClick={() =>
                  void run('team', texts.savedTeam, () => savePanelsOfTeam(layout, person, editor.panels))
                }
              >
                {texts.asDefault}
              </Menu.Item>
            )}
          </PageMenu>
        </>
      }
    >
      <UnsavedGuard isUnsaved={() => editor.isChanged} />
      <Text className={classes['hint']!}>{editor.drafts.length === 0 ? texts.none : texts.hint}</Text>
      <VisuallyHidden role="status">{editor.said}</VisuallyHidden>
      <div ref={grid} className={classes['cards']}>
        {drag.inOrder(editor.drafts).map(({ key, panel, at }) => (
          <Panel
            key={key}
            panel={panel}
            edited={{ key, at }}
            frame={(content) => (
              <div className={classes['editPanel']} data-dragged={drag.dragged === key || undefined}>
                <PanelBar
                  editor={editor}
                  draft={{ key, panel }}
                  at={at}
                  handle={drag.handleOf(key)}
                  focus={editor.focused?.key === key ? editor.focused.turn : undefined}
                />
                <div className={classes['preview']} inert>
                  {content}
                </div>
              </div>
            )}
          >
            <PanelContent panel={panel} isBuiltIn={false} />
          </Panel>
        ))}
      </div>
    </Page>
  )
}

/** The panels as they are changed. `said` is what a screen reader is told. */
function useEditor(panels: readonly ViewPanel[]) {
  const [drafts, setDrafts] = useState<readonly Draft[]>(() =>
    panels.map((panel, at) => ({ key: String(at), panel })),
  )
  const [isChanged, setChanged] = useState(false)
  const [said, setSaid] = useState('')
  const [focused, setFocused] = useState<{ readonly key: string; readonly turn: number }>()
  const next = useRef(panels.length)
  const focus = (key: string | undefined) =>
    setFocused(key === undefined ? undefined : { key, turn: (focused?.turn ?? 0) + 1 })
  const placeOf = (key: string) => drafts.findIndex((one) => one.key === key)
  function change(to: readonly Draft[], text: string): void {
    setDrafts(to)
    setChanged(true)
    setSaid(text)
  }
  function move(key: string, to: number): void {
    const list = moved(drafts, placeOf(key), to)
    const at = list.findIndex((one) => one.key === key)
    change(list, texts.place(panelName(list[at]!.panel), at + 1, list.length))
  }
  return {
    drafts,
    panels: drafts.map(({ panel }) => panel),
    isChanged,
    said,
    /** The panel whose handle has to get the focus, and a number that differs each time. */
    focused,
    move(key: string, to: number) {
      move(key, to)
      focus(key)
    },
    take: (key: string, over: string) => move(key, placeOf(over)),
    set: (key: string, to: Partial<ViewPanel>) =>
      change(
        drafts.map((one) => (one.key === key ? { ...one, panel: { ...one.panel, ...to } } : one)),
        '',
      ),
    remove(key: string) {
      const at = placeOf(key)
      const rest = drafts.toSpliced(at, 1)
      change(rest, texts.removed(panelName(drafts[at]!.panel)))
      focus(rest[Math.min(at, rest.length - 1)]?.key)
    },
    add(panel: ViewPanel) {
      const key = String(next.current++)
      change([...drafts, { key, panel }], texts.added(panelName(panel)))
      focus(key)
    },
  }
}

type Editor = ReturnType<typeof useEditor>

type AddPanelProps = { readonly isFull: boolean; readonly onAdd: (panel: ViewPanel) => void }

function AddPanel({ isFull, onAdd }: AddPanelProps) {
  const has = useSeenModules()
  const offered = panelKindNames.filter((kind) => {
    const module = modulesOfPanels[kind]
    return module === undefined || has(module)
  })
  return (
    <Menu position="bottom-end" width={300}>
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<IconPlus size={14} />} disabled={isFull}>
          {texts.add}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {isFull && <Menu.Label>{texts.full(panelsMax)}</Menu.Label>}
        {offered.map((kind) => (
          <Menu.Item
            key={kind}
            onClick={() => onAdd(newPanel(kind, kind === 'services' ? { width: 'full' } : {}))}
          >
            {panelTexts.kinds[kind]}
            <Text size="xs" c="dimmed">
              {panelTexts.about[kind]}
            </Text>
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  )
}

type PanelBarProps = {
  readonly editor: Editor
  readonly draft: Draft
  readonly at: number
  readonly handle: ReturnType<ReturnType<typeof useDrag>['handleOf']>
  /** A new number: the handle gets the focus, and comes into view with it. */
  readonly focus: number | undefined
}

function PanelBar({ editor, draft: { key, panel }, at, handle, focus }: PanelBarProps) {
  const name = panelName(panel)
  const grip = useRef<HTMLButtonElement>(null)
  useEffect(() => {
    if (focus === undefined) return undefined
    // The browser takes the focus from an element that moves.
    grip.current?.focus()
    // A menu returns the focus to its button when it has closed.
    const timer = setTimeout(() => grip.current?.focus(), 50)
    return () => clearTimeout(timer)
  }, [focus])
  const last = editor.drafts.length - 1
  function onKeyDown(event: KeyboardEvent): void {
    const to = placeByKey(event.key, at, last)
    if (to === undefined) return
    event.preventDefault()
    editor.move(key, to)
  }
  const step = (label: string, to: number) => (
    <Menu.Item disabled={to < 0 || to > last || to === at} onClick={() => editor.move(key, to)}>
      {label}
    </Menu.Item>
  )
  return (
    <div className={classes['editBar']}>
      <Tooltip label={texts.hint} openDelay={600}>
        <button
          ref={grip}
          type="button"
          className={classes['handle']}
          aria-label={texts.move(name)}
          onKeyDown={onKeyDown}
          {...handle}
        >
          <IconGripVertical size={16} />
        </button>
      </Tooltip>
      <span className={classes['editName']}>{name}</span>
      {hasSettings(panel) && <PanelSettings panel={panel} onApply={(to) => editor.set(key, to)} />}
      <Menu position="bottom-end" width={220}>
        <Menu.Target>
          <ActionIcon variant="subtle" aria-label={texts.settings(name)}>
            <IconDots size={16} />
          </ActionIcon>
        </Menu.Target>
        <Menu.Dropdown>
          {step(texts.earlier, at - 1)}
          {step(texts.later, at + 1)}
          {step(texts.first, 0)}
          {step(texts.last, last)}
          <Menu.Label>{texts.width}</Menu.Label>
          {panelWidths.map((width) => (
            <Choice
              key={width}
              label={texts.widths[width]}
              isChosen={panel.width === width}
              onChoose={() => editor.set(key, { width })}
            />
          ))}
          <Menu.Label>{texts.height}</Menu.Label>
          {panelHeights.map((height) => (
            <Choice
              key={height}
              label={texts.heights[height]}
              isChosen={panel.height === height}
              onChoose={() => editor.set(key, { height })}
            />
          ))}
        </Menu.Dropdown>
      </Menu>
      <ActionIcon variant="subtle" aria-label={texts.remove(name)} onClick={() => editor.remove(key)}>
        <IconTrash size={16} />
      </ActionIcon>
    </div>
  )
}

/** Returns the place to which an arrow key moves a panel; undefined for any other key. */
function placeByKey(pressed: string, at: number, last: number): number | undefined {
  switch (pressed) {
    case 'ArrowUp':
    case 'ArrowLeft':
      return at - 1
    case 'ArrowDown':
    case 'ArrowRight':
      return at + 1
    case 'Home':
      return 0
    case 'End':
      return last
    default:
      return undefined
  }
}

type ChoiceProps = { readonly label: string; readonly isChosen: boolean; readonly onChoose: () => void }

const Choice = ({ label, isChosen, onChoose }: ChoiceProps) => (
  <Menu.Item
    role="menuitemradio"
    aria-checked={isChosen}
    closeMenuOnClick={false}
    leftSection={<IconCheck size={14} visibility={isChosen ? 'visible' : 'hidden'} />}
    onClick={onChoose}
  >
    {label}
  </Menu.Item>
)
