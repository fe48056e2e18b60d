// Screenshots of the gallery of charts in both themes at the widths of a phone, a laptop and a large screen:
//
//   node portal/test/gallery/shoot.ts
//
// The pictures are written to portal/screenshots, which is not committed.
import { fileURLToPath } from 'node:url'
import { openBrowser } from '../browser.ts'
import { startGallery } from './serve.ts'

const folder = fileURLToPath(new URL('../../screenshots/', import.meta.url))
const gallery = await startGallery()
const browser = await openBrowser()
try {
  for (const scheme of ['light', 'dark'])
    for (const width of [390, 1440, 2560]) {
      const page = await browser.newPage({ viewport: { width, height: 900 }, timezoneId: 'UTC' })
      page.on('console', (message) => process.stdout.write(`${message.type()}: ${message.text()}\n`))
      page.on('pageerror', (error) => process.stdout.write(`${error.stack}\n`))
      await page.goto(`${gallery.url}/?scheme=${scheme}`)
      await page.locator('canvas').nth(7).waitFor()
      await page.getByRole('group', { name: /source AS, region/ }).waitFor()
      const attack = page.getByRole('region', { name: 'Traffic to 203.0.113.77' }).getByRole('application')
      await attack.hover({ position: { x: width > 1000 ? 330 : 200, y: 90 } })
      await page.screenshot({ path: `${folder}charts-${scheme}-${width}.png`, fullPage: true })
      await page.close()
    }
} finally {
  await browser.close()
  await gallery.stop()
}
