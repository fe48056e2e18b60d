// The tools of a list: its columns and the height of its rows, and the export of all rows.
import {
  ActionIcon,
  Button,
  Checkbox,
  Group,
  Menu,
  NativeSelect,
  Popover,
  Progress,
  SegmentedControl,
  Stack,
  Text,
} from '@mantine/core'
import type { Route } from '@pharos/contract/route'
import {
  IconAdjustmentsHorizontal,
  IconArrowsSort,
  IconChevronDown,
  IconChevronUp,
  IconDownload,
} from '@tabler/icons-react'
import { useRef, useState } from 'react'
import { call } from '../api/call.ts'
import { teamIdNow } from '../api/queries.ts'
import { allRows, type PageOf, type Row } from './all-rows.ts'
import { download, writerOf, type FileKind } from './export-file.ts'
import type { Column } from './list-column.ts'
import { nextSort } from './list-head.tsx'
import { useDensity, type Density, type ListLayout } from './list-layout.ts'
import { inputOf, type ListRequest } from './list-requests.ts'
import { notifyProblem } from './notify.ts'
import { useIsPhone } from './use-is-phone.ts'
import { words } from './words.ts'

type ViewOptionsProps = {
  readonly columns: readonly Column<object>[]
  readonly layout: ListLayout
  readonly sort: string | undefined
  readonly onSort: (sort: string) => void
}

/** The columns with their order, the height of rows, and on phones the order of the rows. */
export function ViewOptions({ columns, layout, sort, onSort }: ViewOptionsProps) {
  const [density, setDensity] = useDensity()
  const isPhone = useIsPhone()
  const { order, setColumns } = layout
  const choosable = columns.filter(({ header, pinned }) => header !== '' && !pinned)
  const listed = [
    ...order.flatMap((id) => choosable.find((one) => one.id === id) ?? []),
    ...choosable.filter(({ id }) => !order.includes(id)),
  ]
  const toggle = (id: string) =>
    setColumns(order.includes(id) ? order.filter((one) => one !== id) : [...order, id])
  const move = (id: string, by: 1 | -1) => {
    const next = order.filter((one) => one !== id)
    next.splice(order.indexOf(id) + by, 0, id)
    setColumns(next)
  }
  const sortable = columns.filter(({ orderBy }) => orderBy !== undefined)
  return (
    <Popover position="bottom-end" shadow="md" width={270} trapFocus returnFocus>
      <Popover.Target>
        <ActionIcon aria-label={words.list.viewOptions}>
          <IconAdjustmentsHorizontal size={16} />
        </ActionIcon>
      </Popover.Target>
      <Popover.Dropdown aria-label={words.list.viewOptions}>
        <Stack gap="xs">
          {isPhone && sortable.length > 0 && (
            <Group gap="xs" wrap="nowrap" align="flex-end">
              <NativeSelect
                size="xs"
                flex={1}
                label={words.list.sortBy}
                value={sort?.replace('-', '') ?? ''}
                data={sortable.map(({ orderBy, header }) => ({ value: orderBy!, label: header }))}
                onChange={({ currentTarget: { value } }) =>
                  onSort(nextSort(sortable.find(({ orderBy }) => orderBy === value)!))
                }
              />
              <ActionIcon
                size={30}
                variant="default"
                aria-label={words.list.sortDirection}
                onClick={() => sort && onSort(sort.startsWith('-') ? sort.slice(1) : `-${sort}`)}
              >
                <IconArrowsSort size={14} />
              </ActionIcon>
            </Group>
          )}
          {!isPhone && (
            <SegmentedControl
              size="xs"
              fullWidth
              aria-label={words.list.density}
              data={[
                { value: 'comfortable', label: words.list.comfortable },
                { value: 'compact', label: words.list.compact },
              ]}
              value={density}
              onChange={(next) => setDensity(next as Density)}
            />
          )}
          <div role="group" aria-label={words.list.columns}>
            {listed.map(({ id, header }) => {
              const at = order.indexOf(id)
              return (
                <Group key={id} justify="space-between" wrap="nowrap" gap={4} mih={28}>
                  <Checkbox
                    size="xs"
                    radius={4}
                    label={header}
                    checked={at >= 0}
                    disabled={at >= 0 && order.length === 1}
                    onChange={() => toggle(id)}
                  />
                  {at >= 0 && (
                    <Group gap={0} wrap="nowrap">
                      <ActionIcon
                        variant="subtle"
                        size={24}
                        aria-label={words.list.moveUp(header)}
                        disabled={at === 0}
                        onClick={() => move(id, -1)}
                      >
                        <IconChevronUp size={14} />
                      </ActionIcon>
                      <ActionIcon
                        variant="subtle"
                        size={24}
                        aria-label={words.list.moveDown(header)}
                        disabled={at === order.length - 1}
                        onClick={() => move(id, 1)}
                      >
                        <IconChevronDown size={14} />
                      </ActionIcon>
                    </Group>
                  )}
                </Group>
              )
            })}
          </div>
          <Button size="xs" variant="subtle" disabled={layout.isUsual} onClick={layout.reset}>
            {words.list.resetColumns}
          </Button>
        </Stack>
      </Popover.Dropdown>
    </Popover>
  )
}

type ExportProps = { name: string; route: Route; request: ListRequest; count: number }
const mediaTypes: Record<FileKind, string> = { csv: 'text/csv', json: 'application/json' }

export function Export({ name, route, request, count }: ExportProps) {
  const [rows, setRows] = useState<number>()
  const running = useRef<AbortController>(undefined)
  async function exportAs(kind: FileKind) {
    const { signal } = (running.current = new AbortController())
    setRows(0)
    try {
      const parts = await partsOf(kind, route, request, signal, setRows)
      download(`${name}.${kind}`, new Blob(parts, { type: mediaTypes[kind] }))
    } catch (error) {
      if (!signal.aborted) notifyProblem(error)
    } finally {
      setRows(undefined)
    }
  }
  if (rows !== undefined)
    return (
      <Group gap="xs" wrap="nowrap">
        <Progress w={100} value={(100 * rows) / Math.max(1, count)} aria-label={words.list.exportProgress} />
        <Text size="xs">{words.list.exported(rows, count)}</Text>
        <Button size="compact-xs" variant="default" onClick={() => running.current?.abort()}>
          {words.list.cancel}
        </Button>
      </Group>
    )
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <ActionIcon aria-label={words.list.export} disabled={count === 0}>
          <IconDownload size={16} />
        </ActionIcon>
      </Menu.Target>
      <Menu.Dropdown>
        <Menu.Label>{words.list.exportAll(count)}</Menu.Label>
        <Menu.Item onClick={() => void exportAs('csv')}>CSV</Menu.Item>
        <Menu.Item onClick={() => void exportAs('json')}>JSON</Menu.Item>
      </Menu.Dropdown>
    </Menu>
  )
}

/** Returns the file in pieces of one page each, so that the rows themselves are not kept. Throws when it is cancelled. */
async function partsOf(
  kind: FileKind,
  route: Route,
  request: ListRequest,
  signal: AbortSignal,
  onRows: (rows: number) => void,
): Promise<string[]> {
  const writer = writerOf(kind)
  const parts: string[] = []
  let rows = 0
  for await (const { results } of pagesOf<Row>(route, request, signal)) {
    parts.push(writer.add(results))
    onRows((rows += results.length))
  }
  return [...parts, writer.end()]
}

/** Returns all rows of a list, page by page. Throws when it is cancelled, or when the user switches to another team. */
export function pagesOf<R extends Row>(
  route: Route,
  request: ListRequest,
  signal: AbortSignal,
): AsyncGenerator<PageOf<R>> {
  const team = teamIdNow()
  const ask = async (offset: number, limit: number) => {
    const { body } = await call(route, { ...inputOf(request, offset, limit), signal })
    // The rest would be rows of another team.
    if (teamIdNow() !== team) throw new Error('the team was switched')
    return body as unknown as PageOf<Row>
  }
  return allRows(ask, (seconds) => pause(seconds, signal)) as AsyncGenerator<PageOf<R>>
}

const pause = (seconds: number, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, seconds * 1000)
    signal.addEventListener('abort', () => {
      clearTimeout(timer)
      reject(signal.reason)
    })
  })
