/** Who is handed the next message, against a list that is sorted anew each time. */
import assert from "node:assert/strict";
import { it } from "node:test";
import fc from "fast-check";
import { ConsumerLine } from "../../../adapters/memory/consumer_line.ts";

class Member {
  readonly priority: number;
  /** How many messages more it can take. */
  credit: number;
  /** When it stood in line last; undefined when it does not. */
  since: number | undefined;

  constructor(priority: number, credit: number) {
    this.priority = priority;
    this.credit = credit;
  }

  get hasCredit(): boolean {
    return this.credit > 0;
  }
}

it("a line of consumers takes turns within a priority, and serves a lower one only when nobody above can", () => {
  const step = fc.oneof(
    fc.record({ join: fc.nat(1), credit: fc.integer({ min: 1, max: 3 }) }),
    fc.record({ leave: fc.nat(4) }),
    fc.record({ settle: fc.nat(4) }),
    fc.constant("next" as const),
  );
  fc.assert(
    fc.property(fc.array(step, { minLength: 50, maxLength: 200 }), fc.boolean(), (steps, isQuorum) => {
      const line = new ConsumerLine<Member>({ isSingle: false, isQuorum });
      const members: Member[] = [];
      let time = 0;
      const stand = (member: Member): void => {
        if (member.hasCredit) member.since ??= time++;
        line.offer(member);
      };
      for (const one of steps) {
        if (one === "next") {
          const inLine = members.filter(({ since }) => since !== undefined)
            .toSorted((a, b) => b.priority - a.priority || Number(a.since) - Number(b.since));
          const expected = inLine.find(({ hasCredit }) => hasCredit);
          assert.equal(line.next(), expected);
          // Whoever was asked and could not has lost the place.
          for (const asked of inLine.slice(0, expected && inLine.indexOf(expected))) asked.since = undefined;
          if (expected === undefined) continue;
          expected.since = undefined;
          expected.credit--;
          if (!isQuorum || expected.hasCredit) expected.since = time++;
          line.served(expected);
        } else if ("join" in one) {
          const member = new Member(one.join, one.credit);
          members.push(member);
          line.add(member);
          stand(member);
        } else if ("leave" in one) {
          for (const member of members.splice(one.leave, 1)) line.remove(member);
        } else {
          const member = members[one.settle];
          if (member === undefined) continue;
          member.credit++;
          stand(member);
        }
        assert.equal(line.size, members.length);
      }
    }),
  );
});
