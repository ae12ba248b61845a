// Pcap4J's checksum as an adapter: org.pcap4j:pcap4j-core and org.slf4j:slf4j-api on the class path.
import java.util.HexFormat;
import java.util.Scanner;
import org.pcap4j.util.ByteArrays;

class Pcap4jAdapter {
    public static void main(String[] arguments) {
        String version = ByteArrays.class.getProtectionDomain().getCodeSource().getLocation().getPath();
        version = version.replaceAll(".*pcap4j-core-(.*)\\.jar", "$1");
        for (Scanner lines = new Scanner(System.in); lines.hasNextLine();) {
            String[] words = lines.nextLine().split(" ");
            switch (words[0]) {
                case "hello" -> System.out.println("pcap4j " + version);
                case "sum" -> {
                    byte[] data = HexFormat.of().parseHex(words[1].replace("-", ""));
                    System.out.printf("%04x%n", ByteArrays.calcChecksum(data) & 0xffff);
                }
                default -> System.out.println("unsupported");
            }
        }
    }
}
