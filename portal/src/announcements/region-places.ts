// Where regions are on the map: the API has the name of a place and its time zone, not coordinates. Pure.
import type { Region } from '@pharos/contract/byoip/announcement'

type Place = readonly [latitude: number, longitude: number]

/** Cities with large interconnection sites, by the names that providers give them. */
const cities: Readonly<Record<string, Place>> = {
  amsterdam: [52.37, 4.9],
  ashburn: [39.04, -77.49],
  athens: [37.98, 23.73],
  atlanta: [33.75, -84.39],
  auckland: [-36.85, 174.76],
  bangkok: [13.76, 100.5],
  barcelona: [41.39, 2.17],
  berlin: [52.52, 13.41],
  bogota: [4.71, -74.07],
  boston: [42.36, -71.06],
  brussels: [50.85, 4.35],
  bucharest: [44.43, 26.1],
  'buenos aires': [-34.6, -58.38],
  'cape town': [-33.92, 18.42],
  chennai: [13.08, 80.27],
  chicago: [41.88, -87.63],
  copenhagen: [55.68, 12.57],
  dallas: [32.78, -96.8],
  denver: [39.74, -104.99],
  dubai: [25.2, 55.27],
  dublin: [53.35, -6.26],
  dusseldorf: [51.23, 6.78],
  frankfurt: [50.11, 8.68],
  geneva: [46.2, 6.14],
  hamburg: [53.55, 9.99],
  helsinki: [60.17, 24.94],
  'hong kong': [22.32, 114.17],
  istanbul: [41.01, 28.98],
  jakarta: [-6.21, 106.85],
  johannesburg: [-26.2, 28.05],
  'kuala lumpur': [3.14, 101.69],
  kyiv: [50.45, 30.52],
  lagos: [6.52, 3.38],
  lisbon: [38.72, -9.14],
  london: [51.51, -0.13],
  'los angeles': [34.05, -118.24],
  luxembourg: [49.61, 6.13],
  madrid: [40.42, -3.7],
  manchester: [53.48, -2.24],
  marseille: [43.3, 5.37],
  melbourne: [-37.81, 144.96],
  'mexico city': [19.43, -99.13],
  miami: [25.76, -80.19],
  milan: [45.46, 9.19],
  montreal: [45.5, -73.57],
  mumbai: [19.08, 72.88],
  munich: [48.14, 11.58],
  nairobi: [-1.29, 36.82],
  'new york': [40.71, -74.01],
  osaka: [34.69, 135.5],
  oslo: [59.91, 10.75],
  'palo alto': [37.44, -122.14],
  paris: [48.86, 2.35],
  perth: [-31.95, 115.86],
  phoenix: [33.45, -112.07],
  prague: [50.08, 14.44],
  riga: [56.95, 24.11],
  'rio de janeiro': [-22.91, -43.17],
  rome: [41.9, 12.5],
  'san francisco': [37.77, -122.42],
  'san jose': [37.34, -121.89],
  santiago: [-33.45, -70.67],
  'sao paulo': [-23.55, -46.63],
  seattle: [47.61, -122.33],
  seoul: [37.57, 126.98],
  singapore: [1.35, 103.82],
  sofia: [42.7, 23.32],
  stockholm: [59.33, 18.07],
  sydney: [-33.87, 151.21],
  taipei: [25.03, 121.57],
  tallinn: [59.44, 24.75],
  'tel aviv': [32.09, 34.78],
  tokyo: [35.68, 139.69],
  toronto: [43.65, -79.38],
  vancouver: [49.28, -123.12],
  vienna: [48.21, 16.37],
  vilnius: [54.69, 25.28],
  warsaw: [52.23, 21.01],
  washington: [38.91, -77.04],
  zurich: [47.38, 8.54],
}

const keyOf = (name: string): string =>
  name
    .normalize('NFD')
    .replaceAll(/\p{Mn}/gu, '')
    .toLowerCase()
    .trim()

/** Returns the coordinates of a region's city, or of its time zone's; undefined if neither is known. */
export function placeOf({ location, name, timezone }: Pick<Region, 'location' | 'name' | 'timezone'>) {
  const zoneCity = timezone.split('/').at(-1)!.replaceAll('_', ' ')
  const names = [location, name, location.split(/[,(]/)[0]!, name.split(/[,(\d]/)[0]!, zoneCity].map(keyOf)
  const found = names.map((one) => cities[one]).find((place) => place !== undefined)
  return found && { latitude: found[0], longitude: found[1] }
}
