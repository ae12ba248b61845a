// Pcap4J's checksums as an adapter: org.pcap4j:pcap4j-core and org.slf4j:slf4j-api on the class path.
import java.io.ByteArrayOutputStream;
import java.net.Inet6Address;
import java.net.InetAddress;
import java.util.HexFormat;
import java.util.Scanner;
import org.pcap4j.packet.*;
import org.pcap4j.util.ByteArrays;

class Pcap4jAdapter {
    // Digits, or a pattern * a length; parts joined by +.
    static byte[] data(String word) {
        ByteArrayOutputStream all = new ByteArrayOutputStream();
        for (String part : word.replace("-", "").split("\\+")) {
            byte[] pattern = HexFormat.of().parseHex(part.replaceAll("\\*.*", ""));
            int length = part.contains("*") ? Integer.parseInt(part.replaceAll(".*\\*", "")) : pattern.length;
            for (; length >= pattern.length && length > 0; length -= pattern.length) {
                all.writeBytes(pattern);
            }
            all.write(pattern, 0, length);
        }
        return all.toByteArray();
    }

    static InetAddress address(String word) throws Exception {
        return word.equals("-") ? null : InetAddress.getByName(word);
    }

    static String packet(String protocol, InetAddress from, InetAddress to, byte[] data) throws Exception {
        int field = switch (protocol) {
            case "ipv4_header" -> IpV4Packet.newPacket(data, 0, data.length).getBuilder()
                .correctChecksumAtBuild(true).build().getHeader().getHeaderChecksum();
            case "tcp" -> TcpPacket.newPacket(data, 0, data.length).getBuilder().srcAddr(from).dstAddr(to)
                .correctChecksumAtBuild(true).build().getHeader().getChecksum();
            case "udp" -> UdpPacket.newPacket(data, 0, data.length).getBuilder().srcAddr(from).dstAddr(to)
                .correctChecksumAtBuild(true).build().getHeader().getChecksum();
            case "icmp" -> IcmpV4CommonPacket.newPacket(data, 0, data.length).getBuilder()
                .correctChecksumAtBuild(true).build().getHeader().getChecksum();
            default -> IcmpV6CommonPacket.newPacket(data, 0, data.length).getBuilder()
                .srcAddr((Inet6Address) from).dstAddr((Inet6Address) to)
                .correctChecksumAtBuild(true).build().getHeader().getChecksum();
        };
        return String.format("%04x", field & 0xffff);
    }

    // Of UDP it says that a field of 0 is valid or not, as one wishes.
    static String verdict(String protocol, InetAddress from, InetAddress to, byte[] data) throws Exception {
        boolean valid = switch (protocol) {
            case "ipv4_header" -> IpV4Packet.newPacket(data, 0, data.length).getHeader().hasValidChecksum(false);
            case "tcp" -> TcpPacket.newPacket(data, 0, data.length).hasValidChecksum(from, to, false);
            case "udp" -> UdpPacket.newPacket(data, 0, data.length).hasValidChecksum(from, to, false);
            case "icmp" -> IcmpV4CommonPacket.newPacket(data, 0, data.length).hasValidChecksum(false);
            default -> IcmpV6CommonPacket.newPacket(data, 0, data.length)
                .hasValidChecksum((Inet6Address) from, (Inet6Address) to, false);
        };
        boolean absent = protocol.equals("udp") && data[6] == 0 && data[7] == 0;
        return valid ? "intact" : absent ? "absent" : "damaged";
    }

    public static void main(String[] arguments) throws Exception {
        String version = ByteArrays.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        version = version.replaceAll(".*pcap4j-core-(.*)\\.jar", "$1");
        for (Scanner lines = new Scanner(System.in); lines.hasNextLine();) {
            String[] words = lines.nextLine().split(" ");
            String answer = "unsupported";
            try {
                if (words[0].equals("hello")) {
                    answer = "pcap4j " + version + " repeat";
                } else if (words[0].equals("sum")) {
                    answer = String.format("%04x", ByteArrays.calcChecksum(data(words[1])) & 0xffff);
                } else if (words[0].equals("packet")) {
                    answer = packet(words[1], address(words[2]), address(words[3]), data(words[4]));
                } else if (words[0].equals("verify")) {
                    answer = verdict(words[1], address(words[2]), address(words[3]), data(words[4]));
                }
            } catch (IllegalRawDataException refused) {
                answer = words[0].equals("packet") ? "none" : "damaged";
            }
            System.out.println(answer);
        }
    }
}
