import { code } from '../code.ts';
import type { Template } from '../template.ts';

export const dateTemplates: readonly Template[] = [
  {
    family: 'calendar',
    make(v) {
      const [leap, days, add] = v.names([
        ['isLeapYear', 'daysInMonth', 'addDays'],
        ['isLeap', 'monthLength', 'shiftDay'],
        ['hasLeapDay', 'lastDay', 'dayAfter'],
      ]);
      const [y, m] = v.names([
        ['year', 'month'],
        ['y', 'm'],
      ]);
      return {
        name: v.pick(['calendar', 'months', 'days']),
        source: code`
          ${v.fn(
            leap,
            y,
            v.pick([
              `return (${y} % 4 === 0 && ${y} % 100 !== 0) || ${y} % 400 === 0;`,
              code`
              ${v.when(`${y} % 400 === 0`, 'return true;')}
              ${v.when(`${y} % 100 === 0`, 'return false;')}
              return ${y} % 4 === 0;`,
            ]),
          )}

          ${v.doc('Months are counted from 1.')}
          ${v.fn(
            days,
            `${y}, ${m}`,
            v.pick([
              code`
                ${v.when(`${m} === 2`, `return ${leap}(${y}) ? 29 : 28;`)}
                return [4, 6, 9, 11].includes(${m}) ? 30 : 31;`,
              code`
                const lengths = [31, ${leap}(${y}) ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
                return lengths[${m} - 1];`,
            ]),
          )}

          ${v.fn(
            add,
            `{ ${y}, ${m}, day }, count`,
            code`
              let date = { ${y}, ${m}, day: day + count };
              while (date.day > ${days}(date.${y}, date.${m})) {
                const rest = date.day - ${days}(date.${y}, date.${m});
                date =
                  date.${m} === 12
                    ? { ${y}: date.${y} + 1, ${m}: 1, day: rest }
                    : { ${y}: date.${y}, ${m}: date.${m} + 1, day: rest };
              }
              return date;`,
          )}`,
        cases: [
          ['knows leap years', `${leap}(${v.int(501, 505) * 4})`],
          ['knows other years', `${leap}(${v.int(501, 505) * 4 + v.int(1, 3)})`],
          ['knows centuries', `${leap}(${v.pick([1900, 2100, 2200])})`],
          ['knows the year 2000', `${leap}(2000)`],
          ['knows long months', `${days}(2023, ${v.pick([1, 3, 5, 7, 8, 10, 12])})`],
          ['knows short months', `${days}(2023, ${v.pick([4, 6, 9, 11])})`],
          ['knows February', `[${days}(2023, 2), ${days}(2024, 2)]`],
          ['stays in the month', `${add}({ ${y}: 2023, ${m}: 3, day: 4 }, ${v.int(2, 20)})`],
          ['goes into the next month', `${add}({ ${y}: 2024, ${m}: 2, day: 27 }, ${v.int(3, 9)})`],
          ['goes into the next year', `${add}({ ${y}: 2023, ${m}: 12, day: 30 }, ${v.int(2, 9)})`],
          ['goes over several months', `${add}({ ${y}: 2023, ${m}: 1, day: 1 }, 100)`],
        ],
      };
    },
  },
  {
    family: 'duration-format',
    make(v) {
      const [fn, parse, input] = v.names([
        ['formatDuration', 'parseDuration', 'seconds'],
        ['humanTime', 'toSeconds', 'total'],
        ['showTime', 'readTime', 'value'],
      ]);
      const clock = v.pick(['toClock', 'asClock', 'clock']);
      return {
        name: v.pick(['duration', 'time-format', 'clock']),
        source: code`
          const SIZES = { d: 86400, h: 3600, m: 60, s: 1 };

          ${v.doc('Leaves out what is zero: 1h 5s.')}
          ${v.fn(
            fn,
            input,
            code`
              ${v.when(`${input} === 0`, "return '0s';")}
              const parts = [];
              let rest = ${input};
              for (const [unit, size] of Object.entries(SIZES)) {
                const count = Math.floor(rest / size);
                rest %= size;
                ${v.when('count > 0', 'parts.push(count + unit);')}
              }
              return parts.join('${v.pick([' ', ''])}');`,
          )}

          ${v.fn(
            parse,
            'text',
            code`
              let sum = 0;
              for (const [, count, unit] of text.matchAll(/(\d+)\s*([dhms])/g)) {
                ${v.plus('sum', 'Number(count) * SIZES[unit]')}
              }
              return sum;`,
          )}

          ${v.fn(
            clock,
            input,
            code`
              const pad = (number) => String(number).padStart(2, '0');
              const minutes = Math.floor(${input} / 60) % 60;
              const hours = Math.floor(${input} / 3600);
              const end = \`\${pad(minutes)}:\${pad(${input} % 60)}\`;
              return hours > 0 ? \`\${hours}:\${end}\` : end;`,
          )}`,
        cases: [
          ['shows seconds', `${fn}(${v.int(2, 59)})`],
          ['shows minutes and seconds', `${fn}(${v.int(61, 3599)})`],
          ['leaves zeros out', `${fn}(${v.int(1, 9) * 3600 + v.int(1, 59)})`],
          ['shows days', `${fn}(${86400 * v.int(1, 3) + 7260})`],
          ['shows nothing', `${fn}(0)`],
          ['shows a full minute', `${fn}(60)`],
          ['reads what it shows', `${parse}('${v.int(1, 9)}h ${v.int(1, 59)}m')`],
          ['reads days and seconds', `${parse}('1d${v.int(2, 50)}s')`],
          ['reads nothing', `${parse}('soon')`],
          ['shows a clock', `${clock}(${v.int(60, 3599)})`],
          ['shows hours on the clock', `${clock}(${v.int(1, 20) * 3600 + 65})`],
          ['shows short times on the clock', `${clock}(${v.int(1, 9)})`],
        ],
      };
    },
  },
  {
    family: 'opening-hours',
    make(v) {
      const [open, minutes, next] = v.names([
        ['isOpen', 'toMinutes', 'minutesUntilOpen'],
        ['openAt', 'minuteOf', 'waitingTime'],
        ['staffed', 'parseTime', 'opensIn'],
      ]);
      const [from, to] = [v.int(7, 10), v.int(16, 20)];
      const [sat, sun] = [v.int(11, 14), v.chance(0.5)];
      return {
        name: v.pick(['opening-hours', 'office-hours', 'shop-times']),
        source: code`
          // Sunday is day 0.
          const HOURS = {
            weekday: ['${String(from).padStart(2, '0')}:00', '${to}:30'],
            saturday: ['${String(from + 1).padStart(2, '0')}:00', '${sat}:00'],
          };

          ${v.fn(
            minutes,
            'time',
            code`
              const [hours, minutes] = time.split(':').map(Number);
              return hours * 60 + minutes;`,
          )}

          ${v.local(
            'hoursOf',
            'day',
            code`
              ${v.when('day === 0', `return ${sun ? 'null' : 'undefined'};`)}
              ${v.either('day === 6', 'HOURS.saturday', 'HOURS.weekday')}`,
          )}

          ${v.doc('The closing time itself is closed.')}
          ${v.fn(
            open,
            'day, time',
            code`
              const hours = hoursOf(day);
              ${v.when('!hours', 'return false;')}
              const now = ${minutes}(time);
              return now >= ${minutes}(hours[0]) && now < ${minutes}(hours[1]);`,
          )}

          ${v.fn(
            next,
            'day, time',
            code`
              ${v.when(`${open}(day, time)`, 'return 0;')}
              const now = ${minutes}(time);
              for (let ahead = 0; ahead < 8; ahead += 1) {
                const hours = hoursOf((day + ahead) % 7);
                const start = hours ? ahead * 24 * 60 + ${minutes}(hours[0]) : -1;
                ${v.when('start > now', 'return start - now;')}
              }
              return -1;`,
          )}`,
        cases: [
          ['reads a time', `${minutes}('${v.int(10, 23)}:${v.int(10, 59)}')`],
          ['is open during the day', `${open}(${v.int(1, 5)}, '12:00')`],
          ['opens in time', `${open}(1, '${String(from).padStart(2, '0')}:00')`],
          ['is closed before', `${open}(2, '${String(from - 1).padStart(2, '0')}:59')`],
          ['closes in time', `${open}(3, '${to}:30')`],
          ['is open to the last minute', `${open}(4, '${to}:29')`],
          ['closes earlier on Saturday', `${open}(6, '${sat}:30')`],
          ['is closed on Sunday', `${open}(0, '12:00')`],
          ['need not wait', `${next}(2, '11:00')`],
          ['waits in the morning', `${next}(1, '06:30')`],
          ['waits over the night', `${next}(1, '22:00')`],
          ['waits over the weekend', `${next}(6, '${sat + 1}:00')`],
        ],
      };
    },
  },
  {
    family: 'timetable',
    make(v) {
      const [conflict, free, list] = v.names([
        ['findConflicts', 'freeSlots', 'meetings'],
        ['clashes', 'gaps', 'bookings'],
        ['collisions', 'openings', 'events'],
      ]);
      const rooms = v.pick(['roomsNeeded', 'maxParallel', 'busiest']);
      const [open, close] = [v.int(7, 9), v.int(16, 19)];
      const m = (name: string, s: number, e: number): string =>
        `{ name: '${name}', start: ${s}, end: ${e} }`;
      return {
        name: v.pick(['timetable', 'bookings', 'schedule']),
        source: code`
          const OPEN = ${open};
          const CLOSE = ${close};

          ${v.local('byStart', list, `return [...${list}].sort((a, b) => a.start - b.start);`)}

          ${v.doc('Names of pairs that overlap.')}
          ${v.fn(
            conflict,
            list,
            code`
              const pairs = [];
              const sorted = byStart(${list});
              for (let i = 0; i < sorted.length; i += 1) {
                for (let j = i + 1; j < sorted.length; j += 1) {
                  ${v.when('sorted[j].start < sorted[i].end', 'pairs.push([sorted[i].name, sorted[j].name]);')}
                }
              }
              return pairs;`,
          )}

          ${v.fn(
            free,
            `${list}, least = 1`,
            code`
              const slots = [];
              let from = OPEN;
              for (const { start, end } of byStart(${list})) {
                ${v.when('start - from >= least', 'slots.push([from, start]);')}
                from = Math.max(from, end);
              }
              ${v.when('CLOSE - from >= least', 'slots.push([from, CLOSE]);')}
              return slots;`,
          )}

          ${v.fn(
            rooms,
            list,
            code`
              let most = 0;
              for (const { start } of ${list}) {
                const running = ${list}.filter((other) => other.start <= start && start < other.end);
                most = Math.max(most, running.length);
              }
              return most;`,
          )}`,
        cases: [
          ['finds an overlap', `${conflict}([${m('a', 9, 11)}, ${m('b', 10, 12)}])`],
          ['lets one follow the other', `${conflict}([${m('a', 9, 10)}, ${m('b', 10, 11)}])`],
          [
            'finds several',
            `${conflict}([${m('c', 12, 15)}, ${m('a', 9, 13)}, ${m('b', 10, 11)}])`,
          ],
          ['is free before and after', `${free}([${m('a', 11, v.int(12, 14))}])`],
          ['is free all day', `${free}([])`],
          ['sees the time between', `${free}([${m('a', open, 11)}, ${m('b', 13, close)}])`],
          ['leaves short times out', `${free}([${m('a', open, 11)}, ${m('b', 12, close)}], 2)`],
          [
            'is not free inside of a longer one',
            `${free}([${m('a', open, close)}, ${m('b', 10, 11)}])`,
          ],
          [
            'needs a room for each',
            `${rooms}([${m('a', 9, 12)}, ${m('b', 10, 12)}, ${m('c', 11, 12)}])`,
          ],
          ['uses a room again', `${rooms}([${m('a', 9, 10)}, ${m('b', 10, 11)}])`],
          ['needs no room', `${rooms}([])`],
        ],
      };
    },
  },
  {
    family: 'iso-date',
    make(v) {
      const [parse, format, between] = v.names([
        ['parseDate', 'formatDate', 'daysBetween'],
        ['readDay', 'writeDay', 'dayCount'],
        ['fromIso', 'toIso', 'difference'],
      ]);
      const age = v.pick(['ageOn', 'yearsSince', 'fullYears']);
      return {
        name: v.pick(['iso-date', 'dates', 'birthday']),
        source: code`
          ${v.doc('null when it is no date.')}
          ${v.fn(
            parse,
            'text',
            code`
              const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(text);
              ${v.when('match === null', 'return null;')}
              const [year, month, day] = match.slice(1).map(Number);
              ${v.when('month < 1 || month > 12 || day < 1 || day > 31', 'return null;')}
              return { year, month, day };`,
          )}

          ${v.fn(format, '{ year, month, day }', `return [year, month, day].map((part) => String(part).padStart(2, '0')).join('-');`)}

          ${v.fn(
            between,
            'a, b',
            code`
              const ms = ${v.pick(['Date.parse(b) - Date.parse(a)', 'new Date(b).getTime() - new Date(a).getTime()'])};
              return Math.round(ms / (24 * 60 * 60 * 1000));`,
          )}

          ${v.fn(
            age,
            'birth, today',
            code`
              const [from, to] = [${parse}(birth), ${parse}(today)];
              const before = to.month < from.month || (to.month === from.month && to.day < from.day);
              return to.year - from.year - (before ? 1 : 0);`,
          )}`,
        cases: [
          ['reads a date', `${parse}('20${v.int(10, 29)}-0${v.int(1, 9)}-${v.int(10, 28)}')`],
          ['refuses month 13', `${parse}('2024-13-01')`],
          ['refuses day 0', `${parse}('2024-05-00')`],
          ['accepts the last day', `${parse}('2024-12-31')`],
          ['refuses other text', `${parse}('${v.int(1, 9)} May')`],
          [
            'writes a date',
            `${format}({ year: 20${v.int(10, 29)}, month: ${v.int(1, 9)}, day: ${v.int(1, 31)} })`,
          ],
          ['counts days', `${between}('2024-02-${v.int(10, 28)}', '2024-03-05')`],
          ['counts backwards', `${between}('2024-03-05', '2024-03-0${v.int(1, 4)}')`],
          ['knows the age before the birthday', `${age}('1990-06-15', '2020-06-14')`],
          ['knows the age on the birthday', `${age}('1990-06-15', '2020-06-15')`],
          ['knows the age after the month', `${age}('1990-06-15', '20${v.int(21, 29)}-07-01')`],
        ],
      };
    },
  },
];
