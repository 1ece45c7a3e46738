from crowdlogic.extensions.networks.bilstm_crf import BiLSTMCRF as BiLSTMCRF
from crowdlogic.extensions.networks.cnn_gru import CNNGRU as CNNGRU
from crowdlogic.extensions.networks.crowd_methods import CrowdLayer as CrowdLayer
from crowdlogic.extensions.networks.crowd_methods import DoctorNets as DoctorNets
from crowdlogic.extensions.networks.kim_cnn import KimCNN as KimCNN
from crowdlogic.extensions.networks.mlp import MLP as MLP
from crowdlogic.extensions.networks.module import Module as Module
from crowdlogic.extensions.networks.network import Training as Training
from crowdlogic.extensions.networks.transformer import Transformer as Transformer

ENTRIES: dict[str, dict[str, str]]
COMMANDS: dict[str, tuple[str, str, str]]
