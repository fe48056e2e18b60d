// Display settings of this browser: time zone and theme.
import {
  Group,
  Input,
  SegmentedControl,
  Select,
  Stack,
  Text,
  useMantineColorScheme,
  type MantineColorScheme,
} from '@mantine/core'
import { useMemo } from 'react'
import { browserZone, formatTime, isZone, useHomeZone, useZone, type Zone } from '../ui/time.tsx'
import { Section } from '../ui/section.tsx'

/** The value of "use the browser's time zone". */
const ofBrowser = 'browser'
/** Maximum number of rendered options; typing filters them. */
const shownZones = 60

export function Display() {
  return (
    <Section title="Display">
      <Stack gap="sm">
        <ZoneChoice />
        <SchemeChoice />
        <Text size="xs" c="dimmed">
          Saved in this browser only.
        </Text>
      </Stack>
    </Section>
  )
}

function ZoneChoice() {
  const [home, setHome] = useHomeZone()
  const [zone, setZone] = useZone()
  const zones = useMemo(
    () => [
      { value: ofBrowser, label: `Browser default (${browserZone()})` },
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
        label="Time zone"
        description="Search by city or region"
        searchable
        limit={shownZones}
        nothingFoundMessage="No time zones match"
        allowDeselect={false}
        data={zones}
        value={home !== '' && isZone(home) ? home : ofBrowser}
        onChange={(name) => setHome(name === null || name === ofBrowser ? '' : name)}
      />
      <Input.Wrapper label="Show times in" description="Also in the header of every page">
        <Group gap="xs" mt={4}>
          <SegmentedControl
            size="xs"
            aria-label="Show times in"
            value={zone}
            onChange={(value) => setZone(value as Zone)}
            data={[
              { value: 'local', label: 'My time zone' },
              { value: 'utc', label: 'UTC' },
            ]}
          />
          <Text size="xs" c="dimmed">
            Now {formatTime(now, zone)}
          </Text>
        </Group>
      </Input.Wrapper>
    </>
  )
}

function SchemeChoice() {
  const { colorScheme, setColorScheme } = useMantineColorScheme()
  return (
    <Input.Wrapper label="Theme">
      <Group mt={4}>
        <SegmentedControl
          size="xs"
          aria-label="Theme"
          value={colorScheme}
          onChange={(value) => setColorScheme(value as MantineColorScheme)}
          data={[
            { value: 'auto', label: 'System' },
            { value: 'light', label: 'Light' },
            { value: 'dark', label: 'Dark' },
          ]}
        />
      </Group>
    </Input.Wrapper>
  )
}
