// gopacket's checksums as an adapter: go run .
package main

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"fmt"
	"net"
	"os"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// Digits, or a pattern * a length; parts joined by +.
func data(word string) (all []byte) {
	for _, part := range strings.Split(strings.Trim(word, "-"), "+") {
		digits, length, repeated := strings.Cut(part, "*")
		pattern, _ := hex.DecodeString(digits)
		if count, _ := strconv.Atoi(length); repeated {
			pattern = bytes.Repeat(pattern, count/len(pattern)+1)[:count]
		}
		all = append(all, pattern...)
	}
	return all
}

type layer interface {
	gopacket.DecodingLayer
	gopacket.SerializableLayer
	VerifyChecksum() (error, gopacket.ChecksumVerificationResult)
}

// The packet's layer, and where its checksum stands; nil where it refuses the packet.
func decoded(words []string) (layer, int) {
	made := map[string]layer{"ipv4_header": &layers.IPv4{}, "tcp": &layers.TCP{}, "udp": &layers.UDP{},
		"icmp": &layers.ICMPv4{}, "icmpv6": &layers.ICMPv6{}}[words[0]]
	field := map[string]int{"ipv4_header": 10, "tcp": 16, "udp": 6, "icmp": 2, "icmpv6": 2}[words[0]]
	if over, ok := made.(interface {
		SetNetworkLayerForChecksum(gopacket.NetworkLayer) error
	}); ok {
		source, destination := net.ParseIP(words[1]), net.ParseIP(words[2])
		if source.To4() != nil {
			over.SetNetworkLayerForChecksum(&layers.IPv4{SrcIP: source.To4(), DstIP: destination.To4()})
		} else {
			over.SetNetworkLayerForChecksum(&layers.IPv6{SrcIP: source, DstIP: destination})
		}
	}
	if made.DecodeFromBytes(data(words[3]), gopacket.NilDecodeFeedback) != nil {
		return nil, 0
	}
	return made, field
}

func packet(words []string) string {
	made, field := decoded(words)
	if made == nil {
		return "none"
	}
	sent, payload := gopacket.NewSerializeBuffer(), gopacket.Payload(made.LayerPayload())
	options := gopacket.SerializeOptions{ComputeChecksums: true}
	if err := gopacket.SerializeLayers(sent, options, made, payload); err != nil {
		return "error " + err.Error()
	}
	return hex.EncodeToString(sent.Bytes()[field : field+2])
}

func verify(words []string) string {
	made, _ := decoded(words)
	if made == nil {
		return "damaged"
	}
	err, result := made.VerifyChecksum()
	if _, isUDP := made.(*layers.UDP); err == nil && isUDP && result.Valid && result.Actual == 0 {
		return "absent"
	}
	if err == nil && result.Valid {
		return "intact"
	}
	return "damaged"
}

func main() {
	lines := bufio.NewReader(os.Stdin)
	for line, err := lines.ReadString('\n'); err == nil; line, err = lines.ReadString('\n') {
		answer, words := "unsupported", strings.Fields(line)
		switch words[0] {
		case "hello":
			build, _ := debug.ReadBuildInfo()
			answer = "gopacket " + build.Deps[0].Version + " repeat"
		case "sum":
			answer = fmt.Sprintf("%04x", gopacket.FoldChecksum(gopacket.ComputeChecksum(data(words[1]), 0)))
		case "onto":
			sum := gopacket.ComputeChecksum(data(words[1]), 0)
			answer = fmt.Sprintf("%04x", gopacket.FoldChecksum(gopacket.ComputeChecksum(data(words[2]), sum)))
		case "packet":
			answer = packet(words[1:])
		case "verify":
			answer = verify(words[1:])
		}
		fmt.Println(answer)
	}
}
