package lunar.it.fuzz;

import java.io.ByteArrayOutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import lunar.iscsi.pdu.LoginRequest;

/** Creates plans: what each connection sends, determined by seed and number alone. */
final class Planner {
    private static final int MAX_STREAMS = 8;

    private final long seed;
    private final List<Captures.Capture> captures;

    Planner(long seed, List<Captures.Capture> captures) {
        this.seed = seed;
        this.captures = captures;
    }

    /** The plan of a number. */
    Plan plan(long number) {
        var making = new Making(SeededRandom.of(seed, number), number);
        return making.plan();
    }

    /** A plan under construction. */
    private final class Making {
        private final SeededRandom random;
        private final long number;
        private final Logins logins;
        private final Mutator mutator;
        private final ByteArrayOutputStream out = new ByteArrayOutputStream();

        Making(SeededRandom random, long number) {
            this.random = random;
            this.number = number;
            logins = new Logins(random, Logins.isid(number));
            mutator = new Mutator(random);
        }

        Plan plan() {
            int kind = random.below(100);
            if (kind < 45) {
                return requests();
            } else if (kind < 70) {
                return login();
            } else if (kind < 90) {
                return capture();
            } else if (kind < 95) {
                return chap();
            } else if (kind < 97) {
                return again();
            }
            return garbage();
        }

        /** A good login and streams in full feature phase. */
        private Plan requests() {
            boolean clean = random.percent(10);
            Logins.Login login = random.percent(10)
                    ? logins.discovery()
                    : clean ? logins.normal(Peers.CLEAN) : logins.normal();
            write(login.requests(), false, false);
            Negotiated negotiated = login.negotiated();
            var requests = new Requests(random, negotiated, clean);
            if (!negotiated.discovery() && random.percent(80)) {
                write(requests.first(), negotiated);
            }
            boolean slow = !negotiated.discovery() && random.perMille(2);
            int count = random.between(2, MAX_STREAMS);
            for (int i = 0; i < count; i++) {
                boolean flood = slow && i == 0;
                List<Wire> stream = flood
                        ? requests.flood(random.between(10, 40))
                        : requests.next();
                if (!flood && !clean && random.percent(85)) {
                    stream = mutator.mutate(stream);
                }
                write(stream, negotiated);
                write(List.of(requests.probe(i)), negotiated);
            }
            if (random.percent(50)) {
                write(List.of(requests.logout()), negotiated);
            }
            return finished(count, clean, slow ? Plan.Ending.SLOW : ending(clean));
        }

        /** A login with something wrong, and what would follow it. */
        private Plan login() {
            Logins.Login login = random.percent(80) ? logins.normal() : logins.discovery();
            write(mutator.mutate(login.requests()), false, false);
            var requests = new Requests(random, login.negotiated(), false);
            write(requests.next(), login.negotiated());
            return finished(1, false, ending(false));
        }

        /** Adds PDUs of a real initiator with a mutation. */
        private Plan capture() {
            Captures.Capture capture = random.of(captures);
            List<Wire> first = capture.logins().stream().map(Wire::copy).toList();
            first.forEach(login -> Logins.isid(login, Logins.isid(number)));
            boolean inLogin = random.percent(20) || capture.requests().isEmpty();
            write(inLogin ? mutator.mutate(first) : first, false, false);
            if (!inLogin) {
                List<Wire> sent = capture.requests();
                int from = random.percent(50) ? 0 : random.below(sent.size());
                int to = Math.min(sent.size(), from + random.between(1, 12));
                for (Wire pdu : sent.subList(0, from)) {
                    pdu.write(out, capture.headerDigest(), capture.dataDigest());
                }
                for (Wire pdu : mutator.mutate(sent.subList(from, to))) {
                    pdu.write(out, capture.headerDigest(), capture.dataDigest());
                }
            }
            return finished(1, false, ending(false));
        }

        /** A login with a response to a challenge, valid or not. */
        private Plan chap() {
            List<Wire> first = logins.chap();
            write(random.percent(20) ? mutator.mutate(first) : first, false, false);
            List<byte[]> bytes = pieces(taken());
            write(List.of(logins.afterChap()), false, false);
            var requests = new Requests(random, Negotiated.PLAIN, false);
            write(mutator.mutate(requests.next()), Negotiated.PLAIN);
            var turn = new Plan.ChapTurn(random.number(), first.getLast().header,
                    random.percent(70), random.percent(40), pieces(taken()));
            return new Plan(number, bytes, 1, false, Plan.Ending.HALF_CLOSE, Optional.of(turn));
        }

        /** A login of a port that has a session already, which ends. */
        private Plan again() {
            List<Wire> login = logins.normal().requests();
            login.forEach(pdu -> {
                Logins.isid(pdu, Logins.isid(0xff_ff00_0000L | random.below(3)));
                if (random.percent(20)) {
                    pdu.bhs().int16(LoginRequest.TSIH, random.below(1 << 16));
                }
            });
            write(login, false, false);
            return finished(1, false, ending(false));
        }

        /** No iSCSI at all. */
        private Plan garbage() {
            out.writeBytes(switch (random.below(4)) {
                case 0 -> "GET / HTTP/1.1\r\nHost: target\r\nAccept: */*\r\n\r\n"
                        .getBytes(StandardCharsets.US_ASCII);
                case 1 -> new byte[]{0x16, 3, 1, 2, 0, 1, 0, 1, (byte) 0xfc, 3, 3};
                case 2 -> new byte[random.below(200)];
                default -> random.bytes(random.below(2000));
            });
            return finished(1, false, ending(false));
        }

        private Plan.Ending ending(boolean clean) {
            if (clean) {
                return Plan.Ending.HALF_CLOSE;
            }
            return random.perMille(30)
                    ? Plan.Ending.RESET
                    : random.perMille(1) ? Plan.Ending.STALL : Plan.Ending.HALF_CLOSE;
        }

        private Plan finished(int streams, boolean clean, Plan.Ending ending) {
            byte[] bytes = taken();
            if (!clean && random.percent(12) && bytes.length > 1) {
                bytes = Arrays.copyOf(bytes, random.between(1, bytes.length - 1)); // cut inside
            }
            return new Plan(number, pieces(bytes), streams, clean, ending, Optional.empty());
        }

        private void write(List<Wire> pdus, Negotiated negotiated) {
            write(pdus, negotiated.headerDigest(), negotiated.dataDigest());
        }

        private void write(List<Wire> pdus, boolean headerDigest, boolean dataDigest) {
            for (Wire pdu : pdus) {
                pdu.write(out, headerDigest, dataDigest);
            }
        }

        private byte[] taken() {
            byte[] bytes = out.toByteArray();
            out.reset();
            return bytes;
        }

        /** Mostly one write; else several, so that PDUs come in pieces. */
        private List<byte[]> pieces(byte[] bytes) {
            if (random.percent(80) || bytes.length < 2) {
                return List.of(bytes);
            }
            var pieces = new ArrayList<byte[]>();
            int at = 0;
            for (int i = random.between(1, 4); i > 0 && at < bytes.length; i--) {
                int to = random.between(at, bytes.length);
                pieces.add(Arrays.copyOfRange(bytes, at, to));
                at = to;
            }
            pieces.add(Arrays.copyOfRange(bytes, at, bytes.length));
            return pieces;
        }
    }
}
