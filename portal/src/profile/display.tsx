// Display settings of this browser: time zone and theme.
import {
  Group,
  Input,
  SegmentedControl,
  Select,
  Text,
  useMantineColorScheme,
  type MantineColorScheme,
} from '@mantine/core'
import { useMemo } from 'react'
import { browserZone, formatTime, isZone, useHomeZone, useZone, type Zone } from '../ui/time.tsx'
import { FormSection } from '../ui/form.tsx'
import { words } from './words.ts'

const { display: t } = words

/** The value of "use the browser's time zone". */
const ofBrowser = 'browser'
/** Maximum number of rendered options; typing filters them. */
const shownZones = 60

export function Display() {
  return (
    <FormSection title={t.title} help={t.help}>
      <ZoneChoice />
      <SchemeChoice />
    </FormSection>
  )
}

function ZoneChoice() {
  const [home, setHome] = useHomeZone()
  const [zone, setZone] = useZone()
  const zones = useMemo(
    () => [
      { value: ofBrowser, label: t.browserZone(browserZone()) },
      ...[...new Set(['UTC', ...Intl.supportedValuesOf('timeZone')])].map((name) => ({
        value: name,
        label: name.replaceAll('_', ' '),
      })),
    ],
    [],
  )
  const now = new Date().toISOString()
  return (
    <>
      <Select
        label={t.zone}
        description={t.zoneHelp}
        searchable
        limit={shownZones}
        nothingFoundMessage={t.noZone}
        allowDeselect={false}
        data={zones}
        value={home !== '' && isZone(home) ? home : ofBrowser}
        onChange={(name) => setHome(name === null || name === ofBrowser ? '' : name)}
      />
      <Input.Wrapper label={t.showIn} description={t.showInHelp}>
        <Group gap="xs" mt={4}>
          <SegmentedControl
            size="xs"
            aria-label={t.showIn}
            value={zone}
            onChange={(value) => setZone(value as Zone)}
            data={[
              { value: 'local', label: t.mine },
              { value: 'utc', label: 'UTC' },
            ]}
          />
          <Text size="xs" c="dimmed">
            {t.now(formatTime(now, zone))}
          </Text>
        </Group>
      </Input.Wrapper>
    </>
  )
}

function SchemeChoice() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Input.Wrapper label={t.theme}>
      <Group mt={4}>
        <SegmentedControl
          size="xs"
          aria-label={t.theme}
          value={colorScheme}
          onChange={(value) => setColorScheme(value as MantineColorScheme)}
          data={[
            { value: 'auto', label: t.system },
            { value: 'light', label: t.light },
            { value: 'dark', label: t.dark },
          ]}
        />
      </Group>
    </Input.Wrapper>
  )
}
